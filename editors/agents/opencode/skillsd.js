// Tells skillsd which files opencode's tools touch, and opencode's model what skillsd answers.
//
// Put this file, or a link to it, into ~/.config/opencode/plugins/ or a project's .opencode/plugins/.
// It runs `skillsd hook opencode` after each tool, and never fails or delays a tool for longer than
// PATIENCE: without skillsd nothing happens.

import { spawn } from "node:child_process"

const PROGRAM = process.env.SKILLSD_PROGRAM || "skillsd"
const PATIENCE = 6000

// Resolves to what the model is to be told; "" when there is nothing, also after any failure.
function ask(payload) {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, ["hook", "opencode"], {
      cwd: payload.cwd,
      stdio: ["pipe", "pipe", "ignore"],
      timeout: PATIENCE,
    })
    let answer = ""
    child.on("error", () => resolve(""))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk) => (answer += chunk))
    child.on("close", () => {
      try {
        resolve(JSON.parse(answer).additionalContext || "")
      } catch {
        resolve("")
      }
    })
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Skillsd = async ({ directory }) => {
  // The session that started a sub-agent's session.
  const parents = new Map()
  // What is to be told with the next tool's output, by session.
  const pending = new Map()

  function named(sessionID) {
    let root = sessionID
    while (parents.has(root)) root = parents.get(root)
    return root === sessionID
      ? { session_id: root, cwd: directory }
      : { session_id: root, agent_id: sessionID, cwd: directory }
  }

  return {
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {}
      const tell = (id) => ask({ hook_event_name: event.type, ...named(id) })
      switch (event.type) {
        case "session.created":
          if (info.parentID) parents.set(info.id, info.parentID)
          else await tell(info.id)
          break
        case "session.compacted": {
          const text = await tell(sessionID)
          if (text) pending.set(sessionID, text)
          break
        }
        case "session.idle":
          // Of a session of its own it says only that it waits for the user.
          if (parents.has(sessionID)) await tell(sessionID)
          break
        case "session.deleted":
          await tell(info.id)
          parents.delete(info.id)
          pending.delete(info.id)
          break
      }
    },

    "tool.execute.after": async (input, output) => {
      const answer = await ask({
        hook_event_name: "tool.execute.after",
        ...named(input.sessionID),
        tool_name: input.tool,
        tool_input: input.args,
      })
      const texts = [pending.get(input.sessionID), answer].filter(Boolean)
      pending.delete(input.sessionID)
      if (texts.length === 0 || !output) return
      const text = texts.join("\n\n")
      if (typeof output.output === "string") output.output += `\n\n${text}`
      else if (Array.isArray(output.content)) output.content.push({ type: "text", text })
    },
  }
}
