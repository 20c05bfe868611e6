import { defineConfig } from "vitest/config";

// Every script and style is a file of our own: the page's Content-Security-Policy allows nothing inline.
export default defineConfig({
  base: "/",
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
        test: { name: "bench", include: ["benches/**/*.spec.ts"], environment: "node", fileParallelism: false },
      },
    ],
  },
});
