// Which addresses of a transcript may become links.

const ALLOWED = new Set(["http:", "https:", "mailto:"]);

/** The address as it may be followed; nothing for everything else, such as `javascript:`. */
export function followable(href: string): string | undefined {
  // Browsers skip these inside of a scheme, people do not see them.
  if (/[\u0000-\u0020\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/.test(href)) return undefined;
  let url: URL;
  try {
    url = new URL(href);
  } catch {
    return undefined;
  }
  if (!ALLOWED.has(url.protocol)) return undefined;
  // A name before the host is a disguise (https://bank.example@evil.example), not something that people write.
  return url.username === "" && url.password === "" ? url.href : undefined;
}
