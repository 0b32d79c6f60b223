import { count as number } from "./format.js";

const rules = new Intl.PluralRules("en");
const n = (value: number) => number(value, "en");

/** "1 image", "1,200 images". */
const plural = (value: number, one: string, many = `${one}s`) => `${n(value)} ${rules.select(value) === "one" ? one : many}`;

/** The page's words in English; the other languages have exactly these keys. */
export const en = {
  /** For Intl. */
  tag: "en",
  name: "Tama",
  language: { label: "Language", other: "中文", switchTo: "Switch to Chinese" },

  state: {
    connecting: "Connecting…",
    offline: "Connection lost",
    refused: "Locked",
    "needs-local-model": "No model yet",
    "testing-connection": "Looking for a model…",
    "model-selection": "Choose a model",
    ready: "Here",
    thinking: "Thinking…",
    streaming: "Talking…",
    error: "The model can't be reached",
    demo: "Demonstration model",
  },
  theme: { label: "Colours", system: "as the system", light: "light", dark: "dark" },
  stage: { label: "The character" },

  chat: {
    label: "Chat",
    empty: "Say hello. Whatever you write stays between you and the model you chose.",
    you: "You",
    newBelow: "New",
    newBelowLabel: "Scroll to the newest message",
    thoughts: "Thoughts",
    thinkingNow: "Thinking…",
    interrupted: "broken off",
    waiting: "on its way…",
    unsure: "may not have arrived",
    refused: "not sent",
    nudge: "spoke first",
    images: (count: number) => plural(count, "image"),
    saidBy: (source: string) => `for ${source}`,
    again: "Try again",
    sendAgain: "Send again",
    stoppedAtOnce: "Stopped before the first word.",
    failed: "There was no reply to this.",
    copy: "Copy",
    edit: "Edit and send anew",
    regenerate: "Ask for another reply",
    copyCode: "Copy this code",
    copied: "Copied",
    copyRefused: "The browser didn’t allow it",
  },

  composer: {
    label: "Message",
    placeholder: "Write to Tama…",
    send: "Send",
    stop: "Stop",
    hint: "Enter sends, Shift + Enter starts a new line",
    tooLong: (over: number) => `${plural(over, "character")} too long`,
    full: "Several messages are waiting for the connection. Your text is kept here.",
  },

  connection: {
    lost: "The connection is gone. What you write is kept.",
    retryNow: "Try now",
    retryIn: (seconds: number) => (seconds <= 1 ? "Next try in a moment" : `Next try in ${n(seconds)} s`),
    serverGone: "If you closed it, start it again with:",
  },

  door: {
    title: "This page needs its key",
    why: "The companion is protected by a token, so that nobody else can talk to it.",
    steps: [
      "Start it with `pet`: that opens this page with the key in place.",
      "Or run `pet token` and paste what it prints here.",
    ],
    codeSpent: "The link was used already, or is older than a minute.",
    paste: "Token",
    open: "Open",
    invalid: "That doesn't look like a token. It is one long word without spaces.",
    wrong: "The companion did not accept this token.",
  },

  demo: {
    title: "This is only a demonstration",
    text: "A tiny model that speaks English alone is answering. It is quick, but it understands little. Connect a real one and Tama comes alive.",
    connect: "Connect a real model",
    fold: "Fold",
    small: "Demo model, English only",
  },

  guide: {
    title: "Connect a model",
    which: "Where should the model run?",
    close: "Close",
    tabs: { ollama: "Ollama", lmstudio: "LM Studio", builtin: "Built in", cloud: "Cloud" },
    intro: {
      ollama: "Runs on your own computer, free of charge.",
      lmstudio: "Runs on your own computer, with a window to choose models in.",
      builtin: "The companion itself runs a model file (GGUF).",
      cloud: "The largest models, paid by use. What you write goes to the provider.",
    },
    steps: {
      ollama: [
        "Install Ollama from ollama.com, and start it. Its icon shows in the menu bar or the tray, or run `ollama serve`.",
        "Pull a model: `ollama pull qwen3:4b`. `ollama list` shows what you have.",
        "Leave `OLLAMA_HOST` as it is. If you have set it, it should be `127.0.0.1:11434`.",
        "In lab.toml the address ends in /v1: `base_url = \"http://127.0.0.1:11434/v1\"`.",
        "Still nothing? Let a firewall or VPN allow port 11434 on this computer.",
      ],
      lmstudio: [
        "In LM Studio, download a model.",
        "Open the Developer tab and start the server.",
        "The port is `1234`; in lab.toml: `base_url = \"http://127.0.0.1:1234/v1\"`.",
        "Leave “Serve on Local Network” off: only this computer needs to reach it.",
      ],
      builtin: [
        "Download a chat model as a GGUF file, for example from huggingface.co. “Q4_K_M” is a good size; about 3 GB for 4 billion parameters.",
        "Find your configuration: `python3 pet.py config path` (or `pet config path`) prints where lab.toml is.",
        "Name the file there: `[llm.providers.builtin]`, then `gguf = \"/path/to/model.gguf\"`.",
        "Save. The change takes effect without a restart.",
      ],
      cloud: [
        "Create a key with the provider, and enter it below. It stays on this computer, in the data folder.",
        "Or set it where you start the companion, for example as `OPENAI_API_KEY`; lab.toml names the variable: `api_key = \"env:OPENAI_API_KEY\"`.",
        "Check that the provider serves your region, and that the account has credit.",
        "Behind a proxy, set `HTTPS_PROXY` as well.",
      ],
    },
    test: "Test again",
    testing: "Testing…",
    provider: "Provider",
    reached: (ms: number | undefined) => (ms === undefined ? "Reached." : `Reached in ${n(ms)} ms.`),
    notReached: "Not reached.",
    copy: "Copy",
    copied: "Copied",
  },

  picker: {
    change: "Choose another model",
    title: "Which model should Tama use?",
    role: "For",
    roles: { chat: "talking", tool: "choosing tools", vision: "looking at pictures" },
    provider: "Provider",
    model: "Model",
    loading: "Asking for the models…",
    none: "There is no model yet. See the steps above.",
    use: "Use this model",
    saving: "Saving…",
    saved: "Chosen. It is written to lab.toml.",
  },

  activity: {
    doing: {
      web: "Looking things up…",
      screen: "Looking at the screen…",
      file: "Reading files…",
      other: "Using tools…",
    },
    tools: (count: number) => plural(count, "tool"),
    failed: (count: number) => `${n(count)} without result`,
    step: (step: number) => `Step ${n(step)}`,
    outcome: {
      running: "at work",
      ok: "done",
      error: "failed",
      timeout: "took too long",
      deferred: "put off",
      denied: "not allowed",
      cancelled: "cancelled",
    },
    shot: "A screenshot was taken",
    picture: "A picture came back",
    enlarge: "Enlarge",
    seen: (count: number) => `${plural(count, "picture was", "pictures were")} described by the vision model`,
    unseen: (count: number) => `${plural(count, "picture")} could not be seen`,
  },

  tools: {
    vision__screen_shot: "screenshot",
    vision__look_closer: "a closer look",
    tool__web_search: "web search",
    tool__web_fetch: "web page",
    tool__read_file: "file",
    timeemi__get_date_and_time: "date and time",
    timeemi__roll_dice: "dice",
    timeemi__roll_dice_by_current_time: "dice by the clock",
  },

  cost: {
    label: "Time and tokens",
    path: { fast: "answered directly", tool: "tools first", both: "answer and tools side by side" },
    first: (time: string) => `first word after ${time}`,
    total: (time: string) => `${time} in all`,
    tools: (time: string) => `tools ${time}`,
    tokens: (role: string, read: string, written: string) => `${role}: ${read} tokens read, ${written} written`,
  },

  roles: { chat: "Chat", tool: "Tools", vision: "Vision" },

  consent: {
    label: "A question from Tama",
    capability: {
      screenshot: "Tama would like to take a screenshot of your screen.",
      checks: "Tama would like to run the project’s checks on this computer.",
    },
    once: "Just this once",
    always: "Always",
    never: "Never",
    left: (seconds: number) => `No answer is a no · ${n(seconds)} s`,
    gone: "That question is over: it was answered elsewhere, or the time was up.",
  },

  pictures: {
    add: "Add pictures",
    drop: "Drop pictures here",
    label: "Pictures to send",
    remove: (name: string) => `Remove ${name}`,
    reading: (count: number) => `Preparing ${plural(count, "picture")}…`,
    unreadable: (name: string) => `${name} is no picture that this browser can read. Save it as JPEG or PNG first.`,
    huge: (name: string) => `${name} is too large to open here. Make it smaller first.`,
    heavy: (name: string) => `${name} doesn’t fit beside the others: together they would be too large.`,
    many: (most: number, left: number) =>
      `A message takes ${plural(most, "picture")}; ${n(left)} left out.`,
    sent: (number: number) => `Picture ${number}`,
  },

  notify: {
    offer: "Shall Tama tell you when a reply is there while you look elsewhere?",
    yes: "Yes, notify me",
    no: "No",
    replied: "The reply is there.",
    failed: "There was no reply.",
    asks: "There is a question for you.",
    says: "There is word from another agent.",
  },

  panel: { close: "Close" },

  commands: {
    unknown: (name: string) => `There is no command /${name}. /help shows what there is.`,
    sendAnyway: "Send it as a message",
    label: "Commands",
    meant: (name: string) => `Did you mean /${name}?`,
    offered: (count: number) => plural(count, "command"),
  },

  help: {
    title: "What Tama can do",
    about: [
      "Talk: whatever you write is answered, and what it says is shown as it comes.",
      "Look things up, look at the screen and read files, where lab.toml allows it and a model for tools is connected. You see each call, and Tama asks before it looks at your screen, unless you have answered that for good.",
      "See pictures: paste them, drop them here, or choose files with the button beside the box.",
    ],
    commandsTitle: "Type in the box",
    commands: {
      help: "shows this",
      status: "shows models, tools and tokens, with a copy for a bug report",
      model: "chooses another model",
      connect: "connects a provider, or enters a key",
      theme: "changes between light, dark and the system’s choice",
      language: "changes to Chinese",
    },
    keysTitle: "Keys",
    keys: { send: "sends", line: "starts a new line", stop: "stops the reply", edit: "in the empty box: edits your last message" },
  },

  status: {
    title: "Status",
    open: "Status",
    loading: "Asking…",
    refresh: "Refresh",
    copy: "Copy for a bug report",
    copied: "Copied",
    copyFailed: "The browser didn’t allow it. Select the text below and copy it.",
    state: "State",
    version: "Version",
    models: "Models",
    noModel: "not chosen",
    context: (tokens: string) => `context of ${tokens} tokens`,
    contextUnknown: "size of the context unknown",
    today: (read: string, written: string) => `today ${read} tokens read, ${written} written`,
    capabilities: {
      vision: "sees pictures",
      tools: "native tool calls",
      json_schema: "JSON schema",
      system_role: "system role",
      streaming_usage: "counts tokens",
    },
    answer: { yes: "yes", no: "no", unknown: "not known yet" },
    reasoning: (field: string) => `thinks in “${field}”`,
    mcpState: { starting: "starting", ready: "ready", failed: "failed", restarting: "starting again" },
    mcp: "MCP servers",
    tools: "Tools",
    toolCount: (count: number) => plural(count, "tool"),
    on: "on",
    off: "off",
    none: "none",
    workspace: "Workspace",
    sessions: "Sessions",
  },

  key: {
    label: (provider: string) => `Key for ${provider}`,
    save: "Keep the key",
    saving: "Keeping…",
    saved: "Kept in the data folder, readable by you alone. It is never shown again.",
    hint: "It goes to the companion on your computer, and from there to this provider alone.",
  },

  failure: {
    offline: "The connection is gone.",
    timeout: "There was no answer in time.",
  },
};
