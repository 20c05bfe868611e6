// The page in WebKitGTK, which is what the desktop shell shows it with. In no other chore than `cargo xtask test --desktop`:
// the browser comes with what the shell is built from.

import { test } from "vitest";
import { converses } from "../program/conversation";
import { LONG, ownHouse } from "../program/house";
import { web } from "../program/pairing";
import { WebKit } from "./webkit";

const home = ownHouse();

test("a whole conversation in WebKitGTK, on a desk and on a phone", LONG, async () => {
  const shell = await web(home.house.program, { cwd: home.house.project, env: home.house.environment });
  const webkit = await WebKit.start();
  try {
    await converses(home, shell, webkit);
  } finally {
    await webkit.close();
    shell.kill("SIGTERM");
  }
});
