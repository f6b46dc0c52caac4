// Reports the files that the agent's tools touch to skillsd, and adds its answers to the tools'
// output. A plugin of opencode, and of Kilo, which began as a copy of it.
//
// For opencode, put this file, or a link to it, into ~/.config/opencode/plugins/ or a project's
// .opencode/plugins/; `skillsd install` writes the one of Kilo.
// It runs `skillsd hook` after each tool. It never fails a tool, and delays it by at most
// TIMEOUT_MS; without skillsd it does nothing.

import { spawn } from "node:child_process"

const PROGRAM = process.env.SKILLSD_PROGRAM || "skillsd"
const TIMEOUT_MS = 6000

// Resolves to the text for the model; "" if there is none or the hook fails.
function ask(payload) {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, ["hook", "opencode"], {
      cwd: payload.cwd,
      stdio: ["pipe", "pipe", "ignore"],
      timeout: TIMEOUT_MS,
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
  // The parent of each sub-agent's session.
  const parents = new Map()
  // Sessions reported as begun. opencode reads its skills once in each process, so that a session
  // continued in this one has the skills of now.
  const begun = new Set()
  // Text to add to the next tool's output, by session.
  const pending = new Map()

  function context(sessionID) {
    let root = sessionID
    while (parents.has(root)) root = parents.get(root)
    return root === sessionID
      ? { session_id: root, cwd: directory }
      : { session_id: root, agent_id: sessionID, cwd: directory }
  }

  return {
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {}
      const report = (id) => ask({ hook_event_name: event.type, ...context(id) })
      switch (event.type) {
        case "session.created":
          if (info.parentID) parents.set(info.id, info.parentID)
          else {
            begun.add(info.id)
            await report(info.id)
          }
          break
        case "session.compacted": {
          const text = await report(sessionID)
          if (text) pending.set(sessionID, text)
          break
        }
        case "session.idle":
          // In a top-level session this event only means that it waits for the user.
          if (parents.has(sessionID)) await report(sessionID)
          break
        case "session.deleted":
          await report(info.id)
          parents.delete(info.id)
          begun.delete(info.id)
          pending.delete(info.id)
          break
      }
    },

    "tool.execute.after": async (input, output) => {
      const session = context(input.sessionID)
      if (!begun.has(session.session_id)) {
        begun.add(session.session_id)
        await ask({ ...context(session.session_id), hook_event_name: "session.created" })
      }
      const answer = await ask({
        hook_event_name: "tool.execute.after",
        ...session,
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
