// Looks: what is seen of elements and not said. Colours by the names that people have
// for them, shapes, what is in front of what, and where cells are in their tables.

const colourNames = [["red", 255, 0, 0], ["green", 0, 128, 0], ["blue", 0, 0, 255], ["yellow", 255, 255, 0], ["orange", 255, 165, 0], ["purple", 128, 0, 128],
  ["magenta", 255, 0, 255], ["aqua", 0, 255, 255], ["lime", 0, 255, 0], ["pink", 255, 192, 203], ["brown", 165, 42, 42], ["maroon", 128, 0, 0], ["navy", 0, 0, 128],
  ["teal", 0, 128, 128], ["olive", 128, 128, 0], ["black", 0, 0, 0], ["white", 255, 255, 255], ["gray", 128, 128, 128], ["silver", 192, 192, 192]];

// surer is how much nearer a colour must be to its name than to the next one, for people to agree on it.
const surer = 1.3;

// colourOf is the name of a colour as styles compute it; "" for none and for what is
// nearly transparent. With a margin, also for what is not so much nearer to its name.
function colourOf(css, margin = 1) {
  const parts = /^rgba?\(([\d.]+),? ?([\d.]+),? ?([\d.]+)(?:[,/ ]+([\d.]+))?\)$/.exec(css || "");
  if (!parts || (parts[4] !== undefined && Number(parts[4]) < 0.2)) return "";
  const [r, g, b] = parts.slice(1, 4).map(Number);
  let best = "", least = Infinity, next = Infinity;
  for (const [name, r2, g2, b2] of colourNames) {
    const mean = (r + r2) / 2;
    const distance = (2 + mean / 256) * (r - r2) ** 2 + 4 * (g - g2) ** 2 + (2 + (255 - mean) / 256) * (b - b2) ** 2;
    if (distance < least) [best, least, next] = [name, distance, least];
    else next = Math.min(next, distance);
  }
  return least * margin * margin <= next ? best : "";
}

// styleNode is what is seen of an item.
function styleNode({ el, tag, style, box }) {
  const seen = {}, shape = shapeOf(el, tag);
  if (shape) {
    seen.shape = shape;
    seen.background = colourOf(style.fill) || colourOf(style.stroke);
    seen.unsure = seen.background && !(colourOf(style.fill, surer) || (!colourOf(style.fill) && colourOf(style.stroke, surer))) ? "background" : "";
  } else {
    seen.background = colourOf(style.backgroundColor);
    seen.unsure = seen.background && !colourOf(style.backgroundColor, surer) ? "background" : "";
    seen.color = colourOf(style.color);
    const width = box.right - box.left, height = box.bottom - box.top;
    if (width > 4 && Math.abs(width - height) < 2 && parseFloat(style.borderTopLeftRadius) >= (style.borderTopLeftRadius.endsWith("%") ? 50 : width / 2 - 1)) seen.shape = "circle";
  }
  for (const key of Object.keys(seen)) if (!seen[key]) delete seen[key];
  return Object.keys(seen).length > 0 ? seen : undefined;
}

// topAt returns the element at a point of the top-level page, through frames.
function topAt(x, y, item) {
  const doc = dom.owner(item.el);
  return hit(doc, { x: x - item.place.x, y: y - item.place.y });
}

// coverNodes marks what is behind other elements: at none of some points does it
// receive what is done there.
function coverNodes(items, nodes) {
  const owners = new Map();
  for (const item of items) if (!item.text) owners.set(item.el, item);
  for (const item of items) {
    const node = nodes[item.index];
    if (!item.seen || !(node.interactive || node.role === "text")) continue;
    const { left, top, right, bottom } = item.seen;
    const x = (left + right) / 2, y = (top + bottom) / 2;
    let over = null, free = false;
    for (const [px, py] of [[x, y], [left + (right - left) / 5, y], [right - (right - left) / 5, y], [x, top + (bottom - top) / 5], [x, bottom - (bottom - top) / 5]]) {
      const got = topAt(px, py, item);
      if (!got) continue;
      const label = got.closest && got.closest("label");
      if (contains(item.el, got) || contains(got, item.el) || (label && label.control === item.el) || styleOf(item.el).pointerEvents === "none") {
        free = true;
        break;
      }
      over = over || got;
      if (node.role === "text") break; // one look is enough for what is only read
    }
    if (free || !over) continue;
    node.covered = true;
    for (let up = over; up; up = up.assignedSlot || up.parentNode || up.host) {
      const owner = owners.get(up);
      if (!owner || contains(up, item.el)) continue;
      node.cover = refOf(owner);
      break;
    }
  }
}

// dialogNode marks what is in front of the page so that nothing behind can be used.
function dialogNode(node, item) {
  const { el, style, box, tag } = item;
  if (item.hidden) return;
  const called = /^(dialog|alertdialog)$/.test(node.role);
  if (tag === "dialog") {
    node.modal = dom.matches(el, ":modal");
    if (node.modal) return;
  }
  const layered = /^(fixed|absolute)$/.test(style.position) && Number(style.zIndex) > 0;
  if (!called && !(layered && item.kids.length > 0)) return;
  const middle = { x: innerWidth / 2, y: innerHeight / 2 };
  if (!called && !(box.left < middle.x && box.right > middle.x && box.top < middle.y && box.bottom > middle.y)) return;
  node.modal = nothingBehind(item);
}

// nothingBehind reports whether around an item, all over the viewport, there is no
// element of the page that receives events: only itself and backdrops without text.
function nothingBehind({ el, box, place }) {
  if (place.frame.length > 0) return false;
  let outside = 0;
  for (let i = 1; i <= 5; i++) {
    for (let j = 1; j <= 5; j++) {
      const x = (innerWidth * i) / 6, y = (innerHeight * j) / 6;
      if (x > box.left && x < box.right && y > box.top && y < box.bottom) {
        const got = hit(dom.owner(el), { x, y });
        if (got && !contains(el, got) && !contains(got, el) && !backdrop(got)) return false;
        continue;
      }
      outside++;
      const got = hit(dom.owner(el), { x, y });
      if (got && !contains(el, got) && !backdrop(got)) return false;
    }
  }
  return outside > 0 || (box.left <= 0 && box.top <= 0 && box.right >= innerWidth && box.bottom >= innerHeight);
}

// backdrop reports whether an element lies over the whole page and is empty.
function backdrop(el) {
  const style = styleOf(el);
  if (!/^(fixed|absolute)$/.test(style.position)) return false;
  const box = dom.box(el);
  return box.width >= innerWidth * 0.95 && box.height >= innerHeight * 0.95 && (clean(dom.text(el)) === "" || style.position === "fixed");
}

// tableNodes says of cells where they are in their table, and what heads them.
function tableNodes(items, nodes, survey) {
  const tables = new Map();
  for (const item of items) {
    if (item.text || !/^(cell|gridcell|columnheader|rowheader)$/.test(item.role)) continue;
    const row = nearestItem(item, /^row$/), table = nearestItem(row || item, /^(table|grid|treegrid)$/);
    const rowEl = row ? row.el : parentOf(item.el);
    const tableItem = table || row;
    if (!tableItem || !rowEl) continue;
    if (!tables.has(tableItem)) tables.set(tableItem, { rows: new Map(), headers: new Map(), spans: new Map() });
    const known = tables.get(tableItem);
    if (!known.rows.has(rowEl)) known.rows.set(rowEl, { index: known.rows.size, next: 0, first: null });
    const at = known.rows.get(rowEl), node = nodes[item.index];
    const taken = (column) => (known.spans.get(column) || 0) > at.index;
    const set = Number(dom.attribute(item.el, "aria-colindex"));
    while (taken(at.next)) at.next++;
    const column = Number.isInteger(set) && set > 0 ? set - 1 : at.next;
    const width = Math.min(item.el.colSpan || 1, 100), height = Math.min(item.el.rowSpan || 1, 1000);
    for (let c = column; c < column + width; c++) {
      if (height > 1) known.spans.set(c, at.index + height);
      if (item.role === "columnheader") known.headers.set(c, node.name || node.text);
    }
    at.next = column + width;
    node.table = refOf(tableItem);
    node.row = at.index;
    node.column = column;
    if (item.role !== "columnheader") node.columnHeader = known.headers.get(column) || "";
    if (at.first !== null) node.rowHeader = at.first;
    if (at.first === null || (item.role === "rowheader" && !at.headed)) {
      at.first = node.name || node.text || "";
      at.headed = item.role === "rowheader";
    }
    if (row && row.index !== undefined) {
      nodes[row.index].table = node.table;
      nodes[row.index].row = at.index;
    }
  }
}

function nearestItem(item, role) {
  for (let up = item.parent; up; up = up.parent) if (!up.text && role.test(up.role)) return up;
  return null;
}
