// The page begins: the screens are drawn over the connection to Parlor.

import { render } from "preact";
import { openWorld } from "./model/world";
import { App } from "./view/app";
import { apply } from "./view/chrome/scheme";
import { warm } from "./view/text/warm";

const root = document.getElementById("app");

if (root) {
  apply();
  render(<App world={openWorld()} />, root);
  warm();
}
