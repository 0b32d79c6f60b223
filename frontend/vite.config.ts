import { defineConfig } from "vitest/config";

export default defineConfig({
  // The server may lie behind a proxy's path, so every address in the page is relative.
  base: "./",
  build: {
    outDir: "../server/page",
    emptyOutDir: true,
    target: "es2022",
    // The content security policy allows no data: address and no inline script.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  test: { include: ["tests/**/*.test.ts"], environment: "node" },
});
