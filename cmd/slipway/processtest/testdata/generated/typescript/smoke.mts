// Calls a server with the types that openapi-typescript makes of its description: an app, a
// build, a crash and its group, a test and its run, and refusals.
import createClient from "openapi-fetch";
import type { components, paths } from "./description.d.ts";

function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

// sure returns a value that is as it must be, and ends the program where it is not.
function sure<T>(what: string, value: T | undefined, holds: (value: T) => boolean, answer: unknown): T {
  if (value === undefined || !holds(value)) throw new Error(`${what}: ${JSON.stringify(answer)}`);
  return value;
}

const base = variable("BASE");
const client = createClient<paths>({ baseUrl: base, headers: { "X-API-Key": variable("API_KEY") } });
const credentials = Buffer.from(`${variable("USERNAME")}:${variable("ACCESS_KEY")}`).toString("base64");
const authoring = createClient<paths>({ baseUrl: base, headers: { Authorization: `Basic ${credentials}` } });

async function app() {
  const body = { name: "Smoke of TypeScript", platform: "ios", package_name: "org.example.smoke.ts" };
  const made = await client.POST("/api/v3/projects", { body });
  const { project } = sure("create an app", made.data, () => made.response.status === 201, made.error);
  const read = await client.GET("/api/v3/projects/{id}", { params: { path: { id: `${project.id}` } } });
  sure("read the app", read.data, (d) => d.project.name === body.name && d.project.package_name === body.package_name, read);
}

async function build() {
  const set = await client.PUT("/api/v3/settings/organization", { body: { generic_files: true } });
  sure("allow files of other kinds", set.data, () => true, set.error);
  const up = await client.POST("/api/v3/builds/upload", {
    body: { file: "a file of TypeScript", platform: "windows", release_notes: "Of TypeScript" },
    bodySerializer(body) {
      const form = new FormData();
      form.set("file", new File([body.file ?? ""], "smoke-typescript.zip"));
      form.set("platform", body.platform ?? "");
      form.set("release_notes", body.release_notes ?? "");
      return form;
    },
  });
  const { id } = sure("upload a build", up.data, (d) => d.status === "ok", up.error).build;
  const read = await client.GET("/api/v3/builds/{id}", { params: { path: { id: `${id}` } } });
  sure("read the build", read.data, (d) => d.build.release_notes === "Of TypeScript", read);
}

async function crash() {
  const report: components["schemas"]["crash_submission"] = {
    uuid: crypto.randomUUID(), timestamp: Math.floor(Date.now() / 1000), lang: "typescript", langVersion: "5", agent: "smoke", agentVersion: "1",
    mainThread: "0", threads: { "0": { name: "main", fault: true, stack: [{ funcName: "sail" }] } },
    classifiers: ["SmokeOfTypeScript"], attributes: { "error.message": "it broke" },
  };
  const sent = await client.POST("/post", { params: { query: { token: variable("CRASH_TOKEN"), format: "json" } }, body: report });
  sure("post a crash", sent.data, (d) => d._rxid !== "", sent.error);
  for (;;) { // until the worker has read it; who started this program ends it when the time is up
    const list = await client.GET("/api/v3/crash-groups", { params: { query: { search: "SmokeOfTypeScript" } } });
    const [group] = sure("list groups", list.data, () => true, list.error).crash_groups;
    if (!group) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      continue;
    }
    const read = await client.GET("/api/v3/crash-groups/{id}", { params: { path: { id: group.id } } });
    sure("read the group", read.data, (d) => d.crash_group.classifier === "SmokeOfTypeScript" && d.crash_group.count === 1, read);
    return;
  }
}

async function refusals() {
  const absent = await client.GET("/api/v3/projects/{id}", { params: { path: { id: "999999999" } } });
  sure("an app that there is not", absent.error, (e) => absent.response.status === 404 && e.error !== "", absent);
  const unnamed = await client.POST("/api/v3/projects", { body: {} });
  sure("an app without a name", unnamed.error, (e) => unnamed.response.status === 400 && e.error !== "", unnamed);
}

async function run() {
  const made = await authoring.POST("/v1/ai-authoring/testcases", {
    body: {
      name: "Smoke of TypeScript",
      runSettings: { testUrl: base, target: { capabilities: { browserName: "chrome" } } },
      steps: [{ id: "s1", tool: { type: "go_to_url", args: { url: "/healthz" } } }],
    },
  });
  const { id } = sure("import a test", made.data, (d) => d.data.revisions.length === 1, made.error).data;
  const started = await authoring.POST("/v1/ai-authoring/testcases/{id}/run", { params: { path: { id } }, body: {} });
  const runId = sure("start a run", started.data, (d) => d.data.jobs.length === 1, started.error).data.id;
  const read = await authoring.GET("/v1/ai-authoring/testcases/{id}/runs/{runId}", { params: { path: { id, runId } } });
  sure("read the run", read.data, (d) => typeof d === "object" && d.data.id === runId, read);
  const absent = await authoring.GET("/v1/ai-authoring/testcases/{id}", { params: { path: { id: "000000000000000000000000" } } });
  sure("a test that there is not", absent.error, (e) => absent.response.status === 404 && e.error.detail !== "", absent);
}

for (const step of [app, build, crash, refusals, run]) await step();
console.log("every call was answered as it is described");
