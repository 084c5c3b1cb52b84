// The page on paper: light, and with canvases that are sharp in print. The rest is in style/print.css.

import { redrawAll } from "./dom.js";
import { onPaper } from "./theme.js";

const SHARP = 3; // pixels of a canvas for one of the page: about 300 per inch

window.addEventListener("beforeprint", () => {
  onPaper(true);
  redrawAll(SHARP);
});
window.addEventListener("afterprint", () => {
  onPaper(false);
  redrawAll(0);
});
