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

// Notes what the metrics were answered.
const handler = new BacktraceNodeRequestHandler({});
const answers = [];
const requests = {
  postError: (...args) => handler.postError(...args),
  postAttachment: (...args) => handler.postAttachment(...args),
  post: async (...args) => {
    const result = await handler.post(...args);
    answers.push(result.status);
    return result;
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
  console.log(JSON.stringify({ session: client.metrics.sessionId, sent: sent.status, answers }));
  client.dispose();
  process.exitCode = sent.status === 'Ok' && answers.length >= 2 && answers.every((a) => a === 'Ok') ? 0 : 3;
}

main();
