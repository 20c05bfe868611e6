// Parts of a message that are neither text nor tool.

import { useEffect, useState } from "preact/hooks";
import type { Part } from "../../model/types";
import { Diffs } from "../diff/view";
import { Code } from "../text/code";
import { languageOfPath } from "../text/highlight";
import { Prose } from "../text/seen";
import { visible } from "../text/unseen";

/** Pictures that a browser draws without running anything; SVG is not among them. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const MAX_PICTURE = 8 * 1024 * 1024;

export function ShownPart({ part }: { part: Part }) {
  if ("image" in part) return <Picture mime={part.image.mime} base64={part.image.base64} />;
  if ("code" in part)
    return (
      <Code text={part.code.text} language={part.code.language ?? languageOfPath(part.code.path ?? "")} open={false} />
    );
  if ("diff" in part) return <Diffs text={part.diff.text} path={part.diff.path} />;
  if ("text" in part)
    return (
      <div class="prompt">
        <Prose text={part.text} />
      </div>
    );
  if ("thought" in part)
    return (
      <div class="thought">
        <Prose text={part.thought.text} />
      </div>
    );
  if ("opaque" in part)
    return <p class="soft">Something of kind “{visible(part.opaque.kind)}” that this page cannot show.</p>;
  return null;
}

/** A picture as a blob that we typed ourselves: nothing of its own type or name reaches the browser. */
export function Picture({ mime, base64 }: { mime: string; base64: string }) {
  const [url, setUrl] = useState<string | undefined>();
  const [bad, setBad] = useState(false);
  const fits = PICTURES.has(mime) && base64.length < MAX_PICTURE;
  useEffect(() => {
    if (!fits) return;
    let made: string | undefined;
    try {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      made = URL.createObjectURL(new Blob([bytes], { type: mime }));
      setUrl(made);
    } catch {
      setBad(true);
    }
    return () => {
      if (made) URL.revokeObjectURL(made);
    };
  }, [mime, base64, fits]);
  if (!fits || bad) return <p class="soft">A picture of type {visible(mime)} that is not shown here.</p>;
  return (
    <span class="picture">
      {url && (
        // biome-ignore lint/a11y/noRedundantAlt: that it is a picture is all that is known of it.
        <img src={url} alt="A picture of this conversation" onError={() => setBad(true)} />
      )}
    </span>
  );
}
