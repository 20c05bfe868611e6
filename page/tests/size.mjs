// The built page as it goes over the wire to a browser that only knows gzip: fails when it is heavier than what we
// promise.
import { readdirSync, statSync } from "node:fs";

const MOST = 180 * 1024;
const dist = new URL("../dist/", import.meta.url).pathname;
const files = readdirSync(dist, { recursive: true }).filter((file) => file.endsWith(".gz"));
const total = files.reduce((sum, file) => sum + statSync(dist + file).size, 0);
console.log(`${(total / 1024).toFixed(1)} KB gzipped in ${files.length} files`);
if (total > MOST) process.exit(1);
