// Runs the real client as an application does that starts, sends its session metrics
// and crashes once:
//
//	node usage.cjs MODULES BASE TOKEN VERSION GUID
//
// It ends with 0 when the server took everything, and prints the session's id.
'use strict';
const path = require('path');
const [modules, base, token, version, guid] = process.argv.slice(2);
const { BacktraceClient, BacktraceNodeRequestHandler } = require(require.resolve('@backtrace/node', { paths: [path.dirname(modules)] }));

// The client sends its launch as soon as it is built and waits for no answer, and
// disposing ends what is under way: so every request of metrics is kept.
const handler = new BacktraceNodeRequestHandler({});
const posts = [];
const requests = {
  postError: (...args) => handler.postError(...args),
  postAttachment: (...args) => handler.postAttachment(...args),
  post: (...args) => {
    const post = handler.post(...args);
    posts.push(post);
    return post;
  },
};

const client = BacktraceClient.builder({
  // The client sends metrics only if the address names a universe.
  url: `${base}/post?format=json&token=${token}&universe=main.backtrace.io`,
  userAttributes: { application: 'shop', 'application.version': version, guid },
  metrics: { metricsSubmissionUrl: base, autoSendInterval: 0 },
  captureUnhandledErrors: false,
  breadcrumbs: { enable: false },
}).useRequestHandler(requests).build();

async function main() {
  const sent = await client.send(new TypeError('boom'));
  await client.metrics.send();
  const answers = (await Promise.all(posts)).map((result) => result.status);
  console.log(JSON.stringify({ session: client.metrics.sessionId, sent: sent.status, answers }));
  client.dispose();
  process.exitCode = sent.status === 'Ok' && answers.length >= 2 && answers.every((a) => a === 'Ok') ? 0 : 3;
}

main();
