// Before a drag: bring both elements into view, so that press, moves and release
// can be one sequence, and watch it.
//
// args: name of the watch, from, to; result: { together, x, y, alongX, alongY }: x and
// y are the way between the centres, along the directions in which to begin.

function prepare(name, from, to) {
  const seen = (el) => {
    const point = centre(el);
    const got = point && hit(el.ownerDocument, point);
    return got && contains(el, got) ? point : null;
  };
  if (!seen(from) || !seen(to)) {
    const a = from.getBoundingClientRect(), b = to.getBoundingClientRect();
    const top = Math.min(a.top, b.top), bottom = Math.max(a.bottom, b.bottom);
    const left = Math.min(a.left, b.left), right = Math.max(a.right, b.right);
    scrollBy({ left: (left + right - innerWidth) / 2, top: (top + bottom - innerHeight) / 2, behavior: "instant" });
  }
  const a = seen(from), b = seen(to);
  watchDrag(name, from, to);
  if (!a || !b) return { together: false };
  const x = Math.round(b.x - a.x), y = Math.round(b.y - a.y);
  const along = (way, at, size) => (Math.abs(way) >= 8 ? Math.sign(way) : at < size / 2 ? 1 : -1);
  return { together: true, x, y, alongX: along(x, a.x, innerWidth), alongY: along(y, a.y, innerHeight) };
}

return prepare(...arguments);
