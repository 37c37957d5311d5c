// What is wider than the screen scrolls inside its frame. This marks a frame that has more at its right, and the style sheet
// fades that side and says "swipe". Without the script everything still scrolls.
const FRAMES = "article p:has(> img), .md-typeset__scrollwrap, .formula, article pre > code";

function mark(frame) {
  const hidden = frame.scrollWidth - frame.clientWidth;
  frame.classList.toggle("wide", hidden > 1);
  frame.classList.toggle("more", hidden - frame.scrollLeft > 1);
}

const every = () => document.querySelectorAll(FRAMES).forEach(mark);

addEventListener("load", () => {
  every();
  // pages load figures late, open folded parts and turn with the phone
  new ResizeObserver(every).observe(document.querySelector("article") ?? document.body);
});
addEventListener("load", every, true);
addEventListener("toggle", every, true);
addEventListener("scroll", ({ target }) => target.matches?.(FRAMES) && mark(target), true);
