import type { Catalogue } from "./index.js";

/** 页面的中文文字。 */
export const zh: Catalogue = {
  name: "Tama",
  language: { label: "语言", other: "English", switchTo: "切换到英文" },

  state: {
    connecting: "正在连接…",
    offline: "连接已断开",
    refused: "已上锁",
    "needs-local-model": "还没有模型",
    "testing-connection": "正在寻找模型…",
    "model-selection": "请选择模型",
    ready: "我在",
    thinking: "在想…",
    streaming: "在说…",
    error: "连不上模型",
    demo: "演示模型",
  },
  stage: { label: "角色" },

  chat: {
    label: "聊天",
    empty: "打个招呼吧。你写的内容，只有你和你选的模型知道。",
    you: "你",
    newBelow: "新消息",
    newBelowLabel: "滚动到最新消息",
    thoughts: "思考过程",
    thinkingNow: "在想…",
    interrupted: "没说完",
    waiting: "发送中…",
    unsure: "可能没有送达",
    refused: "未发送",
    nudge: "主动开口",
    images: (count) => `${count} 张图片`,
    saidBy: (source) => `代 ${source} 说`,
    again: "重试",
    sendAgain: "重新发送",
    stoppedAtOnce: "还没开口就停下了。",
    failed: "这条没有得到回复。",
  },

  composer: {
    label: "消息",
    placeholder: "对 Tama 说点什么…",
    send: "发送",
    stop: "停止",
    hint: "Enter 发送，Shift + Enter 换行",
    tooLong: (over) => `超出 ${over} 个字`,
    full: "已有几条消息在等待连接。你写的内容还在这里。",
  },

  connection: {
    lost: "连接断开了。你写的内容不会丢。",
    retryNow: "立即重试",
    retryIn: (seconds) => (seconds <= 1 ? "马上重试" : `${seconds} 秒后重试`),
    serverGone: "如果是你关掉了它，请重新启动：",
  },

  door: {
    title: "这个页面需要钥匙",
    why: "同伴由令牌保护，别人无法和它说话。",
    steps: ["用 `pet` 启动：它会带着钥匙打开这个页面。", "或者运行 `pet token`，把打印出来的内容粘贴到这里。"],
    codeSpent: "这个链接已经用过，或者超过了一分钟。",
    paste: "令牌",
    open: "打开",
    invalid: "这不像是令牌。令牌是一长串不含空格的字符。",
    wrong: "同伴没有接受这个令牌。",
  },

  demo: {
    title: "现在只是演示",
    text: "正在回答的是一个很小的、只会说英文的模型。它很快，但懂得不多。接上真正的模型，Tama 才会活起来。",
    connect: "连接真正的模型",
    fold: "收起",
    small: "演示模型，只会英文",
  },

  guide: {
    title: "连接模型",
    which: "模型在哪里运行？",
    close: "关闭",
    tabs: { ollama: "Ollama", lmstudio: "LM Studio", builtin: "内置", cloud: "云端" },
    intro: {
      ollama: "在你自己的电脑上运行，免费。",
      lmstudio: "在你自己的电脑上运行，有窗口可以挑选模型。",
      builtin: "由同伴自己运行一个模型文件（GGUF）。",
      cloud: "最强的模型，按用量付费。你写的内容会发给服务商。",
    },
    steps: {
      ollama: [
        "从 ollama.com 安装 Ollama 并启动。菜单栏或托盘里会出现它的图标；也可以运行 `ollama serve`。",
        "下载一个模型：`ollama pull qwen3:4b`。用 `ollama list` 查看已有的模型。",
        "不要改动 `OLLAMA_HOST`。如果设置过，应当是 `127.0.0.1:11434`。",
        "lab.toml 里的地址以 /v1 结尾：`base_url = \"http://127.0.0.1:11434/v1\"`。",
        "还是不行？请让防火墙或 VPN 放行本机的 11434 端口。",
      ],
      lmstudio: [
        "在 LM Studio 里下载一个模型。",
        "打开 Developer（开发者）页，启动服务器。",
        "端口是 `1234`；lab.toml 里写：`base_url = \"http://127.0.0.1:1234/v1\"`。",
        "“Serve on Local Network” 保持关闭：只有这台电脑需要访问它。",
      ],
      builtin: [
        "下载一个 GGUF 格式的聊天模型，例如从 huggingface.co 或 modelscope.cn。“Q4_K_M” 大小合适；40 亿参数约 3 GB。",
        "找到配置文件：`pet config path` 会打印 lab.toml 的位置。",
        "在里面写上文件路径：`[llm.providers.builtin]`，下一行 `gguf = \"/path/to/model.gguf\"`。",
        "保存即可，不用重启。",
      ],
      cloud: [
        "在服务商处创建密钥，并在启动同伴的环境里设置好，例如 `OPENAI_API_KEY`。lab.toml 里写的是变量名：`api_key = \"env:OPENAI_API_KEY\"`。",
        "在同一个终端里重新启动同伴，让它读到这个变量。",
        "确认服务商支持你所在的地区，并且账户里有余额。",
        "如果需要代理，请同时设置 `HTTPS_PROXY`。",
      ],
    },
    test: "再测一次",
    testing: "正在测试…",
    provider: "服务商",
    reached: (ms) => (ms === undefined ? "连上了。" : `连上了，用时 ${ms} 毫秒。`),
    notReached: "没有连上。",
    copy: "复制",
    copied: "已复制",
  },

  picker: {
    title: "让 Tama 用哪个模型？",
    provider: "服务商",
    model: "模型",
    loading: "正在询问有哪些模型…",
    none: "还没有模型。请看上面的步骤。",
    use: "就用它",
    saving: "正在保存…",
    saved: "选好了，已写入 lab.toml。",
  },

  failure: {
    offline: "连接断开了。",
    timeout: "等了很久也没有回应。",
  },
};
