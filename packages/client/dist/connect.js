// src/connect/errors.ts
var ConnectError = class extends Error {
  name = "ConnectError";
  code = "setting_invalid";
};

// src/connect/outcome.ts
var TEXT_CHARS_MAX = 2048;
function outcomeIn(result) {
  const [id, code, error, details] = ["connection_id", "claim_code", "error", "error_details"].map((name) => textIn(result, name));
  if (id !== void 0) return { type: "connected", connection_id: id, ...code === void 0 ? {} : { claim_code: code } };
  if (error === void 0) return null;
  return { type: "exited", reason: "not_connected", error, ...details === void 0 ? {} : { error_details: details } };
}
function textIn(value, name) {
  const text = Object(value)[name];
  return typeof text === "string" && text !== "" ? text.slice(0, TEXT_CHARS_MAX) : void 0;
}

// src/connect/waiting.ts
var LOOK_MS = 500;
var TIMER_MS_MAX = 2 ** 31 - 1;
function outcomeOf({ host, portal, portalOrigin, nonce, address, readyMs, timeoutMs, signal }) {
  return new Promise((resolve, reject) => {
    let wasClosed = false;
    let isOver = false;
    let unready;
    const exit = (reason) => end({ type: "exited", reason });
    const look = setInterval(() => {
      if (portal.isClosed() && wasClosed) exit("closed");
      wasClosed = portal.isClosed();
    }, LOOK_MS);
    const after = (ms, reason) => setTimeout(exit, Math.min(ms, TIMER_MS_MAX), reason);
    const late = after(timeoutMs, "timed_out");
    const onAbort = () => exit("aborted");
    host.addEventListener("message", onMessage);
    signal?.addEventListener("abort", onAbort);
    if (signal?.aborted) onAbort();
    address.then(
      (href) => {
        if (isOver) return;
        portal.load(href);
        if (readyMs !== null) unready = after(readyMs, "unreachable");
      },
      (error) => {
        clear();
        reject(error);
      }
    );
    function onMessage({ origin, source, data }) {
      if (origin !== portalOrigin || source === null || source !== portal.source()) return;
      const message = Object(data);
      if (message.type !== "trunkline.connect" || message.nonce !== nonce) return;
      if (message.event === "ready") clearTimeout(unready);
      const outcome = message.event === "outcome" ? outcomeIn(message.result) : null;
      if (outcome !== null) end(outcome);
    }
    function end(outcome) {
      clear();
      resolve(outcome);
    }
    function clear() {
      isOver = true;
      for (const timer of [look, late, unready]) clearTimeout(timer);
      host.removeEventListener("message", onMessage);
      signal?.removeEventListener("abort", onAbort);
      portal.close();
    }
  });
}

// src/connect/windows.ts
var [WIDTH, HEIGHT] = [500, 760];
function popupWindow(host) {
  const left = Math.round(host.screenX + (host.outerWidth - WIDTH) / 2);
  const top = Math.round(host.screenY + (host.outerHeight - HEIGHT) / 2);
  const popup = host.open("", "", `popup,width=${WIDTH},height=${HEIGHT},left=${left},top=${top}`);
  if (popup === null) return null;
  return {
    source: () => popup,
    load: (address) => popup.location.replace(address),
    focus: () => popup.focus(),
    isClosed: () => popup.closed,
    close: () => popup.close()
  };
}
function frameWindow(container, title) {
  const frame = container.ownerDocument.createElement("iframe");
  frame.title = title;
  frame.style.cssText = "border:0;width:100%;height:100%";
  container.append(frame);
  return {
    source: () => frame.contentWindow,
    load: (address) => {
      frame.src = address;
    },
    focus: () => frame.focus(),
    isClosed: () => !frame.isConnected,
    close: () => frame.remove()
  };
}

// src/connect/connect.ts
var NONCE_BYTES = 16;
function createConnect({ portalOrigin, readyMs = 2e4, timeoutMs = 21e5 } = Object()) {
  let current = null;
  if (!isOrigin(portalOrigin))
    throw new ConnectError(
      `\`portalOrigin\` is an origin such as https://trunkline.example.com, or http and this machine; it was ${portalOrigin}.`
    );
  if (!(readyMs > 0 && timeoutMs > 0))
    throw new ConnectError(`\`readyMs\` and \`timeoutMs\` are milliseconds above 0; they were ${readyMs} and ${timeoutMs}.`);
  async function open(options) {
    const { mode = "popup", container, signal } = options;
    if (current !== null) {
      current.focus();
      return { type: "exited", reason: "busy" };
    }
    if (mode === "frame" && container === void 0) throw new ConnectError("A frame needs a `container`.");
    const portal = container !== void 0 && mode === "frame" ? frameWindow(container, "Connect your account") : popupWindow(window);
    if (portal === null) return { type: "exited", reason: "blocked" };
    current = portal;
    try {
      const nonce = randomNonce();
      const address = Promise.resolve(options.link).then((link) => addressOf(link, mode, nonce));
      const times = { readyMs: mode === "frame" ? readyMs : null, timeoutMs };
      return await outcomeOf({ host: window, portal, portalOrigin, nonce, address, ...times, signal });
    } finally {
      portal.close();
      current = null;
    }
  }
  function addressOf(link, mode, nonce) {
    const url = URL.canParse(link) ? new URL(link) : null;
    if (url?.origin !== portalOrigin || !/^\/connect\/[\w-]+$/.test(url.pathname))
      throw new ConnectError(
        `\`link\` is the \`authorization_url\` of a connection, below ${portalOrigin}/connect/; it was ${whatIs(url)}.`
      );
    if (mode === "frame") url.pathname += "/frame";
    url.searchParams.set("connect", `${mode}.${nonce}`);
    return url.href;
  }
  return {
    async open(options) {
      const outcome = await open(options);
      if (outcome.type === "connected") options.onSuccess?.(outcome);
      else options.onExit?.(outcome);
      return outcome;
    }
  };
}
function whatIs(url) {
  return url === null ? "no address" : `something else at ${url.origin}`;
}
function isOrigin(text) {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  return origin === text && (protocol === "https:" || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname));
}
function randomNonce() {
  const bytes = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
export {
  ConnectError,
  createConnect
};
//# sourceMappingURL=connect.js.map
