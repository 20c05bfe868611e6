import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { defineConfig } from "vitest/config";

/** Beside each file the same one as it goes over the wire: the server compresses nothing while it runs. */
const compressed = {
  name: "compressed",
  apply: "build",
  closeBundle(): void {
    const dist = new URL("./dist/", import.meta.url).pathname;
    for (const file of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
      if (!statSync(dist + file).isFile() || /\.(br|gz)$/.test(file)) continue;
      const bytes = readFileSync(dist + file);
      writeFileSync(`${dist}${file}.br`, brotliCompressSync(bytes));
      writeFileSync(`${dist}${file}.gz`, gzipSync(bytes, { level: 9 }));
    }
  },
} as const;

// Every script and style is a file of our own: the page's Content-Security-Policy allows nothing inline.
export default defineConfig({
  base: "/",
  plugins: [compressed],
  // Which sources it is built from; `cargo xtask page` says so.
  envPrefix: "PARLOR_PAGE_",
  build: {
    target: "es2022",
    outDir: "dist",
    assetsDir: "assets",
    emptyOutDir: true,
    // A preloader would be an inline script in older builds of Vite; modules are few, so none is wanted.
    modulePreload: false,
    // An asset inlined as data: would need a wider policy.
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    sourcemap: false,
    reportCompressedSize: true,
  },
  test: {
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["src/**/*.test.{ts,tsx}"], environment: "node", testTimeout: 60_000 },
      },
      {
        extends: true,
        test: {
          name: "browser",
          include: ["tests/**/*.spec.ts"],
          environment: "node",
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: "webkit",
          include: ["tests/webkit/**/*.webkit.ts"],
          environment: "node",
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: { name: "bench", include: ["benches/**/*.spec.ts"], environment: "node", fileParallelism: false },
      },
    ],
  },
});
