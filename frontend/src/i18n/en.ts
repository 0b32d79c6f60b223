/** The page's words in English; the other languages have exactly these keys. */
export const en = {
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
    images: (count: number) => (count === 1 ? "1 image" : `${count} images`),
    saidBy: (source: string) => `for ${source}`,
    again: "Try again",
    sendAgain: "Send again",
    stoppedAtOnce: "Stopped before the first word.",
    failed: "There was no reply to this.",
  },

  composer: {
    label: "Message",
    placeholder: "Write to Tama…",
    send: "Send",
    stop: "Stop",
    hint: "Enter sends, Shift + Enter starts a new line",
    tooLong: (over: number) => `${over} characters too long`,
    full: "Several messages are waiting for the connection. Your text is kept here.",
  },

  connection: {
    lost: "The connection is gone. What you write is kept.",
    retryNow: "Try now",
    retryIn: (seconds: number) => (seconds <= 1 ? "Next try in a moment" : `Next try in ${seconds} s`),
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
        "Find your configuration: `pet config path` prints where lab.toml is.",
        "Name the file there: `[llm.providers.builtin]`, then `gguf = \"/path/to/model.gguf\"`.",
        "Save. The change takes effect without a restart.",
      ],
      cloud: [
        "Create a key with the provider, and set it where you start the companion, for example as `OPENAI_API_KEY`. lab.toml names the variable: `api_key = \"env:OPENAI_API_KEY\"`.",
        "Start the companion again from that terminal, so that it sees the variable.",
        "Check that the provider serves your region, and that the account has credit.",
        "Behind a proxy, set `HTTPS_PROXY` as well.",
      ],
    },
    test: "Test again",
    testing: "Testing…",
    provider: "Provider",
    reached: (ms: number | undefined) => (ms === undefined ? "Reached." : `Reached in ${ms} ms.`),
    notReached: "Not reached.",
    copy: "Copy",
    copied: "Copied",
  },

  picker: {
    title: "Which model should Tama use?",
    provider: "Provider",
    model: "Model",
    loading: "Asking for the models…",
    none: "There is no model yet. See the steps above.",
    use: "Use this model",
    saving: "Saving…",
    saved: "Chosen. It is written to lab.toml.",
  },

  failure: {
    offline: "The connection is gone.",
    timeout: "There was no answer in time.",
  },
};
