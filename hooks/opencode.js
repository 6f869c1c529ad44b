// git coop for OpenCode: shows waiting mail with the user's message, files it when the session is idle.
// Written by `git coop hooks install opencode`; `git coop hooks uninstall opencode` removes it.
import { spawnSync } from "node:child_process";

const program = "git-coop";
const bounds = { timeout: 10000, maxBuffer: 1 << 20, windowsHide: true, stdio: ["pipe", "pipe", "ignore"] };

// What the drain says to one event; nothing where the program is missing, fails or talks nonsense.
function drain(directory, payload) {
  try {
    const done = spawnSync(program, ["drain", "--client", "opencode"], {
      ...bounds,
      cwd: directory,
      encoding: "utf8",
      input: JSON.stringify({ ...payload, directory }),
    });
    const text = done.status === 0 ? JSON.parse(done.stdout).text : "";
    return typeof text === "string" ? text : "";
  } catch {
    return "";
  }
}

// A part's id: as OpenCode makes them, it begins with the time, so that ours sorts behind the user's own text.
function partID() {
  const time = (BigInt(Date.now()) * 4096n + 4095n) & 0xffffffffffffn;
  const tail = Array.from({ length: 14 }, () => Math.floor(Math.random() * 36).toString(36)).join("");
  return `prt_${time.toString(16).padStart(12, "0")}${tail}`;
}

export const GitCoop = async ({ client, directory }) => {
  const parents = new Map(); // session id -> its parent's id, or ""

  // A session with a parent is a subagent's. One that was resumed was never announced: ask, but never wait long.
  async function parent(sessionID) {
    if (!parents.has(sessionID)) {
      const ask = async () => (await client.session.get({ path: { id: sessionID } }))?.data?.parentID;
      const late = new Promise((settle) => setTimeout(settle, 1000, ""));
      parents.set(sessionID, (await Promise.race([ask(), late]).catch(() => "")) || "");
    }
    return parents.get(sessionID);
  }

  async function tell(name, sessionID, more = {}) {
    try {
      if (!sessionID || (await parent(sessionID))) return "";
      return drain(directory, { hook_event_name: name, sessionID, ...more });
    } catch {
      return "";
    }
  }

  return {
    event: async ({ event }) => {
      const facts = event?.properties ?? {};
      if (event?.type === "session.created" && facts.info?.id) {
        parents.set(facts.info.id, facts.info.parentID || "");
        await tell("session.created", facts.info.id);
      } else if (event?.type === "session.idle") {
        await tell("session.idle", facts.sessionID);
      }
    },
    "chat.message": async (input, output) => {
      const sessionID = input?.sessionID ?? output?.message?.sessionID;
      const prompt = (output?.parts ?? []).map((part) => (part?.type === "text" ? part.text : "")).join("");
      const text = await tell("chat.message", sessionID, { prompt });
      if (text) {
        output.parts.push({ id: partID(), sessionID, messageID: output.message.id, type: "text", text, synthetic: true });
      }
    },
  };
};
// digest a0cb4fd3f0ce9afb
