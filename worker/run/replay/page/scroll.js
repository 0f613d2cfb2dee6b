// Scrolling.

// scrolls reports whether a box has more to show than fits along an axis.
function scrolls(box, across) {
  return across ? box.scrollWidth > box.clientWidth + 1 : box.scrollHeight > box.clientHeight + 1;
}

// scroll moves what is in an element, or in the nearest one around it that
// scrolls, by most of a page or to an end. Where nothing scrolls by itself, or a box
// on the way hides what does not fit (lists that follow the wheel by script do), it
// asks the caller for a turn of the wheel: result.wheel is by how much.
async function scroll(query, el) {
  const direction = query.direction;
  const across = direction === "left" || direction === "right";
  if (!direction) {
    el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    return {};
  }
  const page = document.scrollingElement || document.documentElement;
  let box = null, clips = null;
  for (const node of around(el)) {
    if (node === page || node === document.documentElement || node === document.body) continue;
    const overflow = across ? styleOf(node).overflowX : styleOf(node).overflowY;
    if (!scrolls(node, across) || node.clientHeight < 20 || node.clientWidth < 20) continue;
    if (/auto|scroll|overlay/.test(overflow)) {
      box = node;
      break;
    }
    if (overflow === "hidden" || overflow === "clip") clips = clips || node;
  }
  if (!box && !clips && scrolls(page, across)) box = page;
  const height = box === page ? innerHeight : (box || clips || page).clientHeight;
  const width = box === page ? innerWidth : (box || clips || page).clientWidth;
  const most = 100000;
  const by = { up: [0, -0.8 * height], down: [0, 0.8 * height], left: [-0.8 * width, 0], right: [0.8 * width, 0],
    top: [0, -most], bottom: [0, most] }[direction];
  if (!box || clips) {
    const seen = (clips || el).getBoundingClientRect();
    if (seen.top < 0 || seen.bottom > innerHeight) el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    await watchScroll(query, el);
    return { element: el, wheel: by.map(Math.round) };
  }
  const from = [box.scrollLeft, box.scrollTop];
  if (direction === "top") box.scrollTo({ top: 0, behavior: "instant" });
  else if (direction === "bottom") box.scrollTo({ top: box.scrollHeight, behavior: "instant" });
  else box.scrollBy({ left: by[0], top: by[1], behavior: "instant" });
  if (box.scrollLeft !== from[0] || box.scrollTop !== from[1]) return {};
  if (direction === "top" || direction === "bottom") return { note: "it was at its " + direction + " already" };
  if (query.repeated) return {};
  throw new Wait("it is at its end already: nothing scrolls " + direction);
}
