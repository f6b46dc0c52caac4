// Tests `skillsd mcp` with the official MCP clients: the one that most agents use, with
// `initialize`, and the next one, with protocol revision 2026-07-28 and the skills extension. Run
// in the installation's directory:
//
//     node mcp.mjs SKILLSD WORKTREE
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client as Present } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { StdioClientTransport as PresentTransport } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  ListRootsRequestSchema, PromptListChangedNotificationSchema, ResourceListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

const [program, worktree] = process.argv.slice(2);
// The roots decide, not the directory it was started in. The home has files of Claude Code, which
// would be the default.
const started = { command: program, args: ["mcp", "--profile", "agentskills"], cwd: "/", env: process.env };

const write = (name) => {
  const dir = join(worktree, ".agents/skills", name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "SKILL.md"), `---\nname: ${name}\ndescription: Does ${name}.\n---\nDo it.\n`);
};
const names = async (client) => {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((it) => it.name),
    ["skill", "search_skills", "read_skill_file", "explain_skill"]);
  return tools[0].inputSchema.properties.name.enum;
};
const said = (result) => result.content.map((it) => it.text).join("\n");

write("pdf");
{
  const client = new Client({ name: "sdk", version: "1" }, { capabilities: { roots: { listChanged: true } } });
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: `file://${worktree}` }] }));
  const told = [ToolListChangedNotificationSchema, PromptListChangedNotificationSchema,
    ResourceListChangedNotificationSchema].map((schema) =>
    new Promise((resolve) => client.setNotificationHandler(schema, resolve)));
  await client.connect(new StdioClientTransport(started));
  assert.deepEqual(await names(client), ["pdf"]);
  assert.match(said(await client.callTool({ name: "skill", arguments: { name: "pdf" } })), /Do it\./);
  const missing = await client.callTool({ name: "skill", arguments: { name: "pfd" } });
  assert.equal(missing.isError, true);
  assert.match(said(missing), /Did you mean `pdf`\?/);
  const { resources } = await client.listResources();
  assert.deepEqual(resources.map((it) => it.uri), ["skill://pdf/SKILL.md"]);
  const { contents } = await client.readResource({ uri: resources[0].uri });
  assert.match(contents[0].text, /^---\nname: pdf\n/);
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((it) => it.name), ["pdf"]);
  const { messages } = await client.getPrompt({ name: "pdf" });
  assert.match(messages[0].content.text, /Do it\./);
  const { completion } = await client.complete({
    ref: { type: "ref/resource", uri: "skill://{name}/{+path}" }, argument: { name: "name", value: "p" },
  });
  assert.deepEqual(completion.values, ["pdf"]);
  write("deploy");
  await Promise.all(told);
  assert.deepEqual(await names(client), ["deploy", "pdf"]);
  await client.close();
  console.log("@modelcontextprotocol/sdk: tools, resources, prompts, roots, completion and changes");
}
{
  const client = new Present({ name: "client", version: "2" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new PresentTransport({ ...started, args: ["mcp", "--profile", "agentskills", "--cwd", worktree] }));
  assert.deepEqual(await names(client), ["deploy", "pdf"]);
  const skills = new SkillsClient(client);
  assert.equal(skills.supported, true);
  const { skills: entries } = await skills.list();
  assert.deepEqual(entries.map((it) => it.frontmatter.name), ["deploy", "pdf"]);
  const file = await skills.read(entries[1]);
  assert.equal(file.body.trim(), "Do it.");
  const { skill } = await skills.get("skill://pdf/SKILL.md");
  assert.equal(skill.frontmatter.description, "Does pdf.");
  await client.close();
  console.log("@modelcontextprotocol/client: tools and the extension for skills");
}
{
  // Without `initialize` the first call is answered with a `roots/list` request.
  let tell;
  const hear = () => new Promise((resolve) => { tell = resolve; });
  const onChanged = (error, tools) => tell(error ?? tools[0].inputSchema.properties.name.enum);
  const client = new Present({ name: "client", version: "2" }, {
    versionNegotiation: { mode: "auto" }, capabilities: { roots: {} }, listChanged: { tools: { onChanged } },
  });
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: `file://${worktree}` }] }));
  await client.connect(new PresentTransport(started));
  assert.equal(await names(client), undefined);
  const moved = hear();
  assert.match(said(await client.callTool({ name: "skill", arguments: { name: "pdf" } })), /Do it\./);
  assert.deepEqual(await moved, ["deploy", "pdf"]);
  const changed = hear();
  write("plan");
  assert.deepEqual(await changed, ["deploy", "pdf", "plan"]);
  await client.close();
  console.log("@modelcontextprotocol/client: roots and changes");
}
