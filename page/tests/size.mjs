// The built page, gzipped: fails when it is heavier than what we promise.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";

const MOST = 200 * 1024;
const dist = new URL("../dist/", import.meta.url).pathname;
const files = readdirSync(dist, { recursive: true }).filter((file) => statSync(dist + file).isFile());
const total = files.reduce((sum, file) => sum + gzipSync(readFileSync(dist + file), { level: 9 }).length, 0);
console.log(`${(total / 1024).toFixed(1)} KB gzipped in ${files.length} files`);
if (total > MOST) process.exit(1);
