import { render } from "preact";
import { App } from "../../src/view/app";
import { apply } from "../../src/view/chrome/scheme";
import { demo } from "./world";

apply();
const root = document.getElementById("app");
if (root) render(<App world={demo()} />, root);
