// Snapshot: what the page shows, after it became quiet (quiet.js).
//
// query: { first, wait, load, acted }
// result: { url, title, lang, width, height, nodes, truncated, quiet, next } as JSON,
// without what is empty: drivers take long for large objects.

const empty = (value) => value === "" || value === false || value === undefined || value === null;
const brief = (key, value) => (empty(value) || (key === "level" && value === 0) || (key === "reacts" && !value) ? undefined : value);

// written returns a value as JSON, past what old libraries make of it.
function written(value) {
  const changed = [Array, String, Number, Boolean, Object].map((kind) => kind.prototype).filter((made) => Object.prototype.hasOwnProperty.call(made, "toJSON"));
  const former = changed.map((made) => Object.getOwnPropertyDescriptor(made, "toJSON"));
  for (const made of changed) delete made.toJSON;
  try {
    return JSON.stringify(value, brief);
  } finally {
    changed.forEach((made, i) => Object.defineProperty(made, "toJSON", former[i]));
  }
}

async function snapshot(query, listeners) {
  const quiet = await settle(query);
  const survey = newSurvey(listeners, query.first);
  const items = surveyPage(survey);
  const nodes = nodesOf(items, survey);
  let next = survey.next;
  for (const doc of survey.openers.keys()) if (doc.defaultView) next = Math.max(next, refsOf(doc.defaultView, query.first).next);
  return written({ url: location.href, title: clean(document.title).slice(0, 300), lang: (dom.attribute(dom.top(document), "lang") || "").slice(0, 35),
    width: innerWidth, height: innerHeight, nodes, truncated: survey.truncated, quiet, next });
}

return snapshot(arguments[0], arguments[1]);
