// src/address.ts
function addressOf(text, scheme, allowHttp) {
  if (!URL.canParse(text)) return text ? "no address" : "nothing";
  const url = new URL(text);
  const { protocol, hostname, host } = url;
  const isLocal = allowHttp || /^(localhost|127(\.\d+){3}|\[::1])$/.test(hostname);
  return protocol === `${scheme}s:` || protocol === `${scheme}:` && isLocal ? url : `${protocol}//${host}`;
}

// src/streams/errors.ts
var StreamError = class extends Error {
  name = "StreamError";
  constructor(code, message, reason = null) {
    super(message);
    Object.assign(this, { code, reason });
  }
};
function isFinal(error) {
  return typeof error === "object" && error !== null && "retrySafe" in error && error.retrySafe === false;
}
function isRetrySafe(error) {
  return error instanceof Error && "retrySafe" in error && error.retrySafe === true;
}
function invalid(message) {
  return new StreamError("setting_invalid", message);
}

// src/streams/connection.ts
var sleptMs = 0;
var SYSTEM_TIMERS = {
  /** While the machine sleeps, `performance` stands still on some systems, and connections end all the same. */
  nowMs() {
    const nowMs = performance.now();
    sleptMs = Math.max(sleptMs, Date.now() - performance.timeOrigin - nowMs);
    return nowMs + sleptMs;
  },
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  }
};
var PING_AFTER_MS = 15e3;
var DEAD_AFTER_MS = 3e4;
var LOOK_EVERY_MS = 5e3;
var WAIT_MS = { first: 250, max: 3e4 };
var REFUSALS_MAX = 3;
var UNOPENED_MAX = 3;
var ENDED_BY_SERVICE = 4003;
function streamConnection(options, handlers) {
  const { timers = SYSTEM_TIMERS, random = Math.random } = options;
  const { Socket, address } = socketOf(options);
  let isRunning = false;
  let socket = null;
  let isOpen = false;
  let isReady = false;
  let cancel = () => void 0;
  let receivedMs = null;
  let isPinged = false;
  let failures = 0;
  let refusals = 0;
  let report = null;
  const clean = (why) => why.replaceAll(handlers.secret() || "\0", "***");
  const ageMs = () => receivedMs === null ? null : timers.nowMs() - receivedMs;
  const isReceiving = () => (ageMs() ?? DEAD_AFTER_MS) < DEAD_AFTER_MS;
  const end = (reason) => ended(1e3, reason);
  function send(message) {
    if (isOpen) socket?.send(JSON.stringify(message));
  }
  function stop() {
    isRunning = false;
    forget();
  }
  function fail(error) {
    if (!isRunning) return;
    stop();
    handlers.failed(error);
  }
  function open() {
    report = null;
    isPinged = false;
    const openedMs = timers.nowMs();
    try {
      const opened = new Socket(options.url);
      socket = opened;
      const guard = (run) => {
        if (socket !== opened) return;
        try {
          run();
        } catch (error) {
          if (socket === opened) end(error instanceof Error ? error.message : String(error));
        }
      };
      opened.addEventListener(
        "open",
        () => guard(() => {
          isOpen = true;
          handlers.opened();
        })
      );
      opened.addEventListener("message", ({ data }) => guard(() => received(data)));
      opened.addEventListener("close", ({ code, reason }) => guard(() => ended(code, String(reason))));
      opened.addEventListener("error", () => guard(() => isOpen || ended(1006, "")));
      look(openedMs);
    } catch (error) {
      fail(error);
    }
  }
  function received(data) {
    const wasSilent = !isReceiving();
    receivedMs = timers.nowMs();
    isPinged = false;
    report = null;
    handlers.received(parsed(data), wasSilent);
  }
  function look(sinceMs) {
    cancel = timers.after(LOOK_EVERY_MS, () => {
      const silentMs = timers.nowMs() - Math.max(sinceMs, receivedMs ?? sinceMs);
      if (silentMs >= DEAD_AFTER_MS && (isPinged || !isOpen)) {
        end("the service was silent for too long");
        return;
      }
      if (isReady) failures = 0;
      if (silentMs >= PING_AFTER_MS && isOpen) {
        isPinged = true;
        send(handlers.ping());
      }
      look(sinceMs);
    });
  }
  function ended(code, reason) {
    if (!socket) return;
    const why = clean(report ?? (reason || `closed with ${code}`));
    forget();
    const isOver = code === ENDED_BY_SERVICE && !handlers.renewable?.test(why);
    if (isOver) isRunning = false;
    else openLater();
    handlers.ended(why);
    if (isOver) handlers.failed(new StreamError("ended_by_service", why));
    else if (receivedMs === null && failures >= UNOPENED_MAX) void lookAt();
  }
  function openLater() {
    const bound = boundMs(failures);
    failures += 1;
    const wasRefused = refusals > (handlers.renewable ? 1 : 0);
    const chance = random();
    cancel = timers.after(wasRefused ? WAIT_MS.max * (1 + chance / 2) : chance * bound, open);
  }
  async function lookAt() {
    const send2 = options.fetch ?? fetch;
    const init = { redirect: "manual", credentials: "omit", signal: AbortSignal.timeout(PING_AFTER_MS) };
    const found = await send2(address, init).catch(() => null);
    void found?.body?.cancel().catch(() => void 0);
    if (receivedMs === null && found && /^(2|3|404|405|410)/.test(String(found.status)))
      fail(invalid(`no stream at ${address}: it answers ${found.status}, not 426; they are at /stream and /market-data/stream`));
  }
  function forget() {
    const left = socket;
    socket = null;
    isOpen = false;
    isReady = false;
    cancel();
    try {
      left?.close();
    } catch {
    }
  }
  return {
    timers,
    get session() {
      return socket;
    },
    get isReady() {
      return isReady;
    },
    get ageMs() {
      return ageMs();
    },
    get isReceiving() {
      return isReceiving();
    },
    start() {
      if (isRunning) return;
      isRunning = true;
      refusals = 0;
      open();
    },
    stop,
    send,
    ready() {
      isReady = true;
      refusals = 0;
    },
    reported(why) {
      report = clean(why);
    },
    refused(why) {
      refusals += 1;
      if (refusals >= REFUSALS_MAX) fail(new StreamError("credentials_refused", clean(why)));
      else end(why);
    },
    end,
    fail,
    later: (after, run) => timers.after(random() * boundMs(after), run)
  };
}
function boundMs(failures) {
  return Math.min(WAIT_MS.max, WAIT_MS.first * 2 ** Math.min(failures, 10));
}
function socketOf({ url, allowHttp, socket = globalThis.WebSocket }) {
  const found = addressOf(url, "ws", allowHttp);
  if (typeof found === "string") throw invalid(`url must be wss://…, or ws:// of this machine, and was ${found}: allowHttp permits ws://`);
  if (!socket) throw invalid("no WebSocket (Node.js 20): install ws, pass its WebSocket as `socket`");
  const { protocol, host, pathname } = found;
  return { Socket: socket, address: `${protocol.replace("ws", "http")}//${host}${pathname}` };
}
function parsed(data) {
  const message = typeof data === "string" ? JSON.parse(data) : null;
  if (typeof message !== "object" || message === null || Array.isArray(message)) throw new Error("a message is not a JSON object");
  return { ...message };
}

// src/streams/queue.ts
function queueOf() {
  const items = /* @__PURE__ */ new Map();
  let entries = items.entries();
  return {
    length: () => items.size,
    put: (item, key = {}) => void items.set(key, item),
    delete: (key) => void items.delete(key),
    take() {
      for (const _ of [1, 2]) {
        const { value } = entries.next();
        if (value !== void 0) {
          items.delete(value[0]);
          return value[1];
        }
        entries = items.entries();
      }
      return void 0;
    }
  };
}

// src/streams/reader.ts
function readerOf(take, left) {
  const pending = [];
  let isEnded = false;
  let isStopped = false;
  let failure;
  let signal;
  function wake() {
    while (pending.length > 0) {
      const item = isStopped ? void 0 : take();
      if (item === void 0 && !isEnded) return;
      const reading = pending.shift();
      const error = failure;
      if (item !== void 0) reading?.resolve({ done: false, value: item });
      else if (error === void 0) reading?.resolve({ done: true, value: void 0 });
      else {
        failure = void 0;
        reading?.reject(error);
      }
    }
  }
  function stop() {
    isStopped = true;
    failure = void 0;
    finish();
  }
  function finish() {
    if (!isEnded) {
      isEnded = true;
      signal?.removeEventListener("abort", stop);
      left();
    }
    wake();
  }
  return {
    isEnded: () => isEnded,
    stopWith(given) {
      signal = given;
      signal?.addEventListener("abort", stop);
      if (signal?.aborted) stop();
    },
    end(error) {
      if (!isEnded) failure = error;
      finish();
    },
    wake,
    next: () => new Promise((resolve, reject) => {
      pending.push({ resolve, reject });
      wake();
    }),
    async return() {
      stop();
      return { done: true, value: void 0 };
    },
    [Symbol.asyncIterator]() {
      return this;
    }
  };
}

// src/streams/broker/follower.ts
var READ_AGAIN_MS = 5e3;
var ASK_AGAIN_MS = 1e3;
var REFUSALS_MAX2 = { resuming: 3, beginning: 5 };
function followerOf(options, subscription, left) {
  const { userId, waitingMax, readEvents, timers } = options;
  const queue = queueOf();
  const over = new AbortController();
  const health = /* @__PURE__ */ new Map();
  let interruption = null;
  let last = options.after;
  let eventId = null;
  let lost = null;
  let isBeginning = false;
  let isReplaying = false;
  let isBehind = false;
  let isReading = false;
  let cancelWait = null;
  let refusals = 0;
  let unread = null;
  let read;
  const reader = readerOf(take, () => {
    over.abort();
    cancelWait?.();
    left();
  });
  const { isEnded, wake, end } = reader;
  const isLive = () => subscription.isOnFor(follower) && !(queue.length() || isBeginning || isReplaying);
  function take() {
    isBeginning = false;
    const reason = unread;
    if (reason !== null && !isEnded()) {
      unread = null;
      read = reason;
      return { type: "interrupted", reason };
    }
    const item = queue.take();
    if (item !== void 0) {
      isBeginning = item.type === "begin";
      return item;
    }
    if (isBehind) {
      isBehind = false;
      subscription.settle();
    }
    if (!isLive() || read === null) return void 0;
    read = null;
    return { type: "live", seq: last ?? 0 };
  }
  function interrupted(reason) {
    for (const connectionId of health.keys()) forget(connectionId);
    interruption = reason;
    unread = reason === read ? null : reason;
    wake();
  }
  function forget(connectionId) {
    health.delete(connectionId);
    queue.delete(connectionId);
  }
  function missing(after) {
    throw new Error(`number ${after + 1} of ${userId} is missing`);
  }
  function createdAgain() {
    const why = `${userId} was deleted and created again`;
    begin(why);
    throw new Error(why);
  }
  function put(item, key) {
    queue.put(item, key);
    wake();
    if (queue.length() < waitingMax || isEnded() || isBehind) return;
    isBehind = true;
    interrupted(`${queue.length()} updates wait for their reader`);
    subscription.settle();
  }
  function update(item) {
    const { seq, event_id: id } = item;
    if (last === null) return;
    if (seq === last && eventId !== null && id !== eventId) createdAgain();
    if (seq <= last) return;
    if (seq !== last + 1) missing(last);
    last = seq;
    eventId = id;
    put(item);
  }
  function wait(why, ms = ASK_AGAIN_MS * 2 ** (refusals - 1)) {
    interrupted(why);
    cancelWait = timers.after(ms, () => {
      cancelWait = null;
      subscription.settle();
    });
  }
  function begin(why) {
    last = null;
    eventId = null;
    refusals = 0;
    lost = why;
  }
  async function catchUp(readLog, why) {
    isReading = true;
    const after = last ?? Number.MAX_SAFE_INTEGER;
    let failure;
    let isGone = false;
    try {
      for await (const item of readLog(userId, after, over.signal)) {
        if (last === null || isEnded()) break;
        if (item.seq <= last) continue;
        isGone = item.seq !== last + 1;
        if (isGone) break;
        refusals = 0;
        update(item);
        if (isBehind) break;
      }
    } catch (error) {
      isGone = Object(error).code === "events_missing";
      if (!isGone) failure = error ?? new Error(why);
    }
    isReading = false;
    if (isEnded()) return;
    if (isFinal(failure)) end(failure);
    else if (isGone) begin(why);
    else if (failure !== void 0) {
      refusals = 0;
      wait(why, READ_AGAIN_MS);
    } else if (last === null) wait(why);
    subscription.settle();
  }
  const follower = {
    ...reader,
    health,
    forget,
    interrupted,
    update,
    get interruption() {
      return interruption;
    },
    get isLive() {
      return isLive();
    },
    /** One update is asked for again, because its id shows whether the log is still the same user's. */
    after: () => last === null || eventId === null ? last : last - 1,
    isWaiting: () => isBehind || isReading || cancelWait !== null,
    subscribed(seq) {
      interruption = null;
      refusals = 0;
      isReplaying = last !== null;
      if (last !== null) return;
      last = seq;
      put({ type: "begin", seq, reason: lost });
      lost = null;
    },
    /** @throws Error if updates are missing before it, or the log ends before what came */
    caughtUp(seq) {
      if (last !== null && seq > last) missing(last);
      if (last !== null && seq < last) createdAgain();
      isReplaying = false;
      wake();
    },
    healthIs(status) {
      health.set(status.connection_id, status);
      put(status, status.connection_id);
    },
    deleted() {
      put({ type: "deleted" });
      end();
    },
    /** What is not replayed is read from the log; if the log does not have it either, a snapshot is needed. */
    refused(message) {
      interruption = message;
      eventId = null;
      refusals += 1;
      const isResuming = last !== null;
      if (refusals === 1 && readEvents !== void 0) void catchUp(readEvents, message);
      else if (refusals < (isResuming ? REFUSALS_MAX2.resuming : REFUSALS_MAX2.beginning)) wait(message);
      else if (isResuming) begin(message);
      else end(new StreamError("subscription_refused", message));
    },
    receivedAgain() {
      if (read === null) read = void 0;
      wake();
    }
  };
  return follower;
}

// src/streams/broker/parse.ts
function isUpdate(message) {
  if (typeof message.event_id !== "string") return false;
  numberIn(message);
  if (typeof message.data !== "object" || message.data === null) throw new Error("an update has no data");
  return true;
}
function isHealth(message) {
  return message.type === "stream_status";
}
function numberIn({ type, seq }) {
  if (typeof seq === "number" && Number.isSafeInteger(seq)) return seq;
  throw new Error(`${String(type)} has the seq ${String(seq)}`);
}

// src/streams/broker/subscription.ts
function userSubscription(userId, connection) {
  let state = "off";
  let asker = null;
  function ask(next, action, more = {}) {
    state = next;
    connection.send({ action, user_id: userId, ...more });
  }
  const user = {
    follower: null,
    isIdle: () => user.follower === null && state === "off",
    isOnFor: (follower) => connection.isReceiving && state === "on" && asker === follower && user.follower === follower,
    settle() {
      if (!connection.isReady) return;
      const wanting = user.follower?.isWaiting() ? null : user.follower;
      if (state === "on" && (wanting === null || wanting !== asker)) ask("leaving", "unsubscribe_user");
      else if (state === "off" && wanting !== null) {
        asker = wanting;
        const after = wanting.after();
        ask("asked", "subscribe_user", after === null ? {} : { after });
      }
    },
    interrupted(reason) {
      state = "off";
      user.follower?.interrupted(reason);
    },
    received(message) {
      const { type } = message;
      const follower = asker === user.follower ? asker : null;
      if (type === "user_subscribed" || type === "subscription_failed") {
        if (state !== "asked") return;
        const isOn = type === "user_subscribed";
        state = isOn ? "on" : "off";
        if (isOn) follower?.subscribed(numberIn(message));
        else follower?.refused(String(message.message));
        user.settle();
      } else if (type === "user_unsubscribed") {
        const wasOn = state === "on";
        if (!wasOn && state !== "leaving") return;
        state = "off";
        if (wasOn) follower?.deleted();
        user.settle();
      } else if (state === "on" && follower !== null) {
        if (isUpdate(message)) follower.update(message);
        else if (isHealth(message)) follower.healthIs(message);
        else if (type === "caught_up") follower.caughtUp(numberIn(message));
      }
    }
  };
  return user;
}

// src/streams/broker/stream.ts
var USERS_MAX = 500;
var WAITING_MAX = 1e4;
var BrokerStream = class {
  #sessions;
  /** @throws StreamError setting_invalid */
  constructor(options) {
    this.#sessions = brokerSessions(options);
  }
  /** Milliseconds since the service was last received, null before the first message. A working connection is at most about 20 s old. */
  get ageMs() {
    return this.#sessions.ageMs();
  }
  /**
   * A user's updates, in order, each once, over any number of connections. Ends when the user was deleted or disabled, or
   * the signal aborts.
   * @throws StreamError, at once or from the iteration; and the error of `readEvents` that is final, such as an unknown user
   */
  follow(userId, options = {}) {
    return this.#sessions.follow(userId, options);
  }
  /**
   * For what belongs to the stream and failed, such as the snapshot of a copy: calls after the random wait that the stream itself
   * makes after so many failures in a row, 30 seconds at most, unless the returned function was called before.
   */
  later(failures, run) {
    return this.#sessions.later(failures, run);
  }
};
function brokerSessions(options = Object()) {
  const { url, clientId, clientSecret, waitingMax = WAITING_MAX, readEvents } = options;
  const users = /* @__PURE__ */ new Map();
  let followed = 0;
  if (/\/market-data\/stream$/.test(url)) throw invalid("url is of market data: the broker stream is at /stream");
  if (!(waitingMax > 0)) throw invalid(`waitingMax is a number from 1 on, and was ${waitingMax}`);
  const connection = streamConnection(options, {
    opened: () => void 0,
    received(message, wasSilent) {
      received(message);
      if (wasSilent) for (const { follower } of users.values()) follower?.receivedAgain();
    },
    ended(reason) {
      for (const [userId, user] of users) {
        user.interrupted(reason);
        forget(userId, user);
      }
    },
    failed: (error) => {
      for (const { follower } of [...users.values()]) follower?.end(error);
    },
    ping: () => ({ action: "ping" }),
    secret: () => clientSecret
  });
  function forget(userId, user) {
    if (user.isIdle()) users.delete(userId);
  }
  function received(message) {
    switch (message.type) {
      case "welcome":
        connection.send({ action: "authenticate", client_id: clientId, client_secret: clientSecret, extensions: ["stream_status"] });
        break;
      case "auth_error":
        connection.refused(String(message.message));
        break;
      case "auth_success":
        connection.ready();
        connection.send({ action: "subscribe", topics: ["all"] });
        for (const user of users.values()) user.settle();
        break;
      default:
        receivedOf(message);
    }
  }
  function receivedOf(message) {
    const { user_id: id, type } = message;
    if (id === void 0 && (type === "error" || type === "subscription_failed")) throw new Error(String(message.message));
    const userId = String(id);
    const user = users.get(userId);
    if (user === void 0) return;
    user.received(message);
    forget(userId, user);
  }
  return {
    ageMs: () => connection.ageMs,
    later: connection.later,
    follow(userId, { after = null, signal }) {
      if (!/^(?!\s)[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,64}(?<!\s)$/u.test(userId))
        throw invalid("a user_id has 1 to 64 characters, and no space at its ends");
      if (!(Number.isSafeInteger(after ?? 0) && Number(after) >= 0)) throw invalid(`after is the seq of an update, and was ${after}`);
      const user = users.get(userId) ?? userSubscription(userId, connection);
      if (user.follower !== null)
        throw new StreamError("followed_already", `${userId} has a reader in this stream: end it first, or make another stream`);
      if (followed >= USERS_MAX) throw new StreamError("too_many", `one stream follows at most ${USERS_MAX} users: make another one`);
      const follower = followerOf({ userId, after, waitingMax, readEvents, timers: connection.timers }, user, () => {
        user.follower = null;
        followed -= 1;
        user.settle();
        forget(userId, user);
        if (followed > 0) return;
        users.clear();
        connection.stop();
      });
      user.follower = follower;
      users.set(userId, user);
      followed += 1;
      follower.stopWith(signal);
      if (!follower.isEnded()) {
        connection.start();
        user.settle();
      }
      return follower;
    }
  };
}

// src/streams/copy/records.ts
var Records = class {
  orders = /* @__PURE__ */ new Map();
  positions = /* @__PURE__ */ new Map();
  balances = /* @__PURE__ */ new Map();
  constructor({ orders, positions, balances } = { orders: [], positions: [], balances: [] }) {
    for (const order of orders) this.putOrder(order);
    for (const position of positions) this.#putPosition(position);
    for (const balance of balances) this.#putBalance(balance);
  }
  apply(update) {
    if (update.type === "orders") this.putOrder(update.data);
    else if (update.type === "balances") this.#putBalance(update.data);
    else if (update.type === "positions") for (const position of update.data) this.#putPosition(position);
  }
  /** Of two copies of an order, the one with the higher revision is newer. Also for answers to your own requests. */
  putOrder(order) {
    const known = this.orders.get(order.order_id);
    if (known === void 0 || known.revision <= order.revision) this.orders.set(order.order_id, order);
  }
  /** Removes what belongs to a connection that was deleted; no update does. */
  forget(connectionId) {
    for (const records of [this.orders, this.positions, this.balances])
      for (const [key, record] of records) if (record.connection_id === connectionId) records.delete(key);
  }
  toSnapshot() {
    return { orders: [...this.orders.values()], positions: [...this.positions.values()], balances: [...this.balances.values()] };
  }
  #putPosition(position) {
    const key = positionKey(position);
    if (/^-?0(\.0+)?$/.test(position.quantity)) this.positions.delete(key);
    else this.positions.set(key, position);
  }
  #putBalance(balance) {
    this.balances.set(balanceKey(balance), balance);
  }
};
function positionKey({ account_id, symbol, instrument, broker_position_id }) {
  return JSON.stringify([account_id, symbol, instrument, broker_position_id]);
}
function balanceKey({ account_id, currency_code }) {
  return JSON.stringify([account_id, currency_code]);
}
async function digestOf(snapshot) {
  const { orders, positions, balances } = new Records(snapshot);
  const lines = [orders, positions, balances].map((records) => [...records.entries()].sort(byKey).map(([, record]) => canonical(record)));
  const bytes = new TextEncoder().encode(JSON.stringify(lines));
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
function byKey([a], [b]) {
  return a < b ? -1 : 1;
}
function canonical(record) {
  const { system_time: _, ...fields } = { system_time: null, ...record };
  return JSON.stringify(fields, (_key, value) => isRecord(value) ? Object.fromEntries(Object.entries(value).sort(byKey)) : value);
}
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// src/streams/copy/live-copy.ts
var VERIFY_TRIES = 10;
var NOT_KEPT = "the copy is not kept any more";
var NO_HEALTH = /* @__PURE__ */ new Map();
var LiveCopy = class {
  #options;
  #waiting = /* @__PURE__ */ new Set();
  #records = new Records();
  #seq = null;
  #isRunning = false;
  /** It ran, and does not any more. */
  #isOver = false;
  /** While it runs. */
  #following = null;
  /** The snapshot may contain updates up to this one; until then, records may be older than it. */
  #snapshotSeq = 0;
  /** Why the snapshot could not be read, while it is to be read again. */
  #unread = null;
  /** What was put while a snapshot is read; it may be newer. */
  #put = null;
  constructor(options) {
    this.#options = options;
  }
  /** By `order_id`. */
  get orders() {
    return this.#records.orders;
  }
  get positions() {
    return [...this.#records.positions.values()];
  }
  get balances() {
    return [...this.#records.balances.values()];
  }
  /** How each connection follows its broker, by `connection_id`: a copy is only as current as that. Empty while it is not known. */
  get health() {
    return this.#following?.health ?? NO_HEALTH;
  }
  /** The copy is complete up to this update; null before its beginning. */
  get seq() {
    return this.#seq;
  }
  /** Whether it has everything that the service has sent, and updates arrive as they happen. */
  get isLive() {
    return this.#following?.isLive === true && this.#seq !== null && this.#seq >= this.#snapshotSeq;
  }
  /**
   * Why no updates arrive: no connection, wrong credentials, no such user, or a snapshot that could not be read yet.
   * Null while they do, and before it was tried.
   */
  get interruption() {
    return this.#unread ?? this.#following?.interruption ?? null;
  }
  /** Milliseconds since the service was last received; null before that. */
  get ageMs() {
    return this.#options.stream.ageMs;
  }
  /**
   * Keeps the copy until the signal aborts or the user is deleted or disabled (`deleted`), and yields each change after it was saved.
   * A snapshot that cannot be read now is read again after the stream's own waits, as long as the error is `retrySafe`.
   * @throws StreamError, what `load` and `save` throw, and other errors of `readSnapshot`, `readLastSeq` and the stream's `readEvents`
   */
  run(signal) {
    const over = new AbortController();
    const changes = this.#run(AbortSignal.any([signal, over.signal]));
    const end = changes.return.bind(changes);
    return Object.assign(changes, {
      // Otherwise it would wait for the next change.
      return(value) {
        over.abort();
        return end(value);
      }
    });
  }
  async *#run(signal) {
    const { stream, userId, load, save } = this.#options;
    if (this.#isRunning) throw new StreamError("followed_already", "this copy is kept already");
    this.#isRunning = true;
    this.#isOver = false;
    try {
      const stored = await load?.() ?? null;
      if (stored !== null) this.#replace(new Records(stored), stored.seq, stored.seq);
      this.#following = stream.follow(userId, { signal, ...stored !== null && { after: stored.seq } });
      for await (const item of this.#following) {
        if (item.type === "deleted") return "deleted";
        const change = await this.#take(item, signal);
        if (change === null) continue;
        await save?.(change, this);
        yield change;
      }
      return "stopped";
    } finally {
      this.#isRunning = false;
      this.#isOver = true;
      this.#following = null;
      this.#notify(new Error(NOT_KEPT));
    }
  }
  /** An answer to a request of your own may be newer than the last update. */
  putOrder(order) {
    this.#records.putOrder(order);
    this.#put?.push(order);
  }
  /** Removes the records of a connection that was deleted; no update does. */
  forget(connectionId) {
    this.#records.forget(connectionId);
    this.#following?.forget(connectionId);
  }
  /**
   * Resolves when it is live, also if that takes for ever.
   * @throws Error when {@link LiveCopy.run} ends before, or has ended, and the reason of the signal
   */
  async live(signal) {
    while (!this.isLive) await this.#changed(signal);
  }
  /** SHA-256 over all records; {@link digestOf} of a snapshot that holds the same is equal. */
  digest() {
    return digestOf(this.#records.toSnapshot());
  }
  /**
   * Compares the copy with what REST returns, at a moment in which both have the same `seq`.
   * @throws Error if there is no such moment in ten tries, because something changes all the time; or if the copy is not kept
   */
  async verify(signal) {
    const { readSnapshot, readLastSeq } = this.#options;
    if (readLastSeq === void 0 || !this.#isRunning) throw new Error("verify needs readLastSeq, and a copy that is kept");
    let different = "";
    for (let tries = 0; tries < VERIFY_TRIES; tries += 1) {
      const before = await readLastSeq(signal);
      const snapshot = await readSnapshot(signal);
      const seq = await readLastSeq(signal);
      while (this.#seq === null || this.#seq < seq) await this.#changed(signal);
      if (before !== seq || this.#seq !== seq) continue;
      const [digest, expected] = await Promise.all([this.digest(), digestOf(snapshot)]);
      if (digest === expected) return { isEqual: true, seq, digest };
      const found = `${seq} ${digest} ${expected}`;
      if (found === different) return { isEqual: false, seq, digest, expected };
      different = found;
    }
    throw new Error(`the records changed during each of ${VERIFY_TRIES} comparisons`);
  }
  async #take(item, signal) {
    switch (item.type) {
      case "begin":
        return this.#begin(item.seq, signal);
      case "live":
      case "interrupted":
      case "stream_status":
        this.#notify();
        return null;
      default:
        this.#records.apply(item);
        this.#seq = item.seq;
        this.#notify();
        return item;
    }
  }
  /** Null: aborted meanwhile. What updates come while it is tried again waits in the stream, up to its bound. */
  async #begin(seq, signal) {
    this.#put = [];
    try {
      for (let failures = 0; !signal.aborted; failures += 1) {
        try {
          return await this.#read(seq, this.#put, signal);
        } catch (error) {
          if (signal.aborted) return null;
          if (!isRetrySafe(error)) throw error;
          this.#unread = `the records cannot be read: ${error.message}`;
          await this.#pause(failures, signal);
        }
      }
      return null;
    } finally {
      this.#put = null;
      this.#unread = null;
    }
  }
  /** As long as the stream waits after so many failures, or until the signal aborts. */
  #pause(failures, signal) {
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        signal.removeEventListener("abort", done);
        resolve();
      };
      const cancel = this.#options.stream.later(failures, done);
      signal.addEventListener("abort", done);
    });
  }
  async #read(seq, put, signal) {
    const { readSnapshot, readLastSeq } = this.#options;
    const snapshot = await readSnapshot(signal);
    const snapshotSeq = await readLastSeq?.(signal) ?? seq;
    const records = new Records(snapshot);
    for (const order of put) records.putOrder(order);
    this.#replace(records, seq, snapshotSeq);
    return { type: "begin", seq, snapshot };
  }
  #replace(records, seq, snapshotSeq) {
    this.#records = records;
    this.#seq = seq;
    this.#snapshotSeq = snapshotSeq;
    this.#notify();
  }
  /** @throws Error when it is not kept any more, and the reason of the signal */
  #changed(signal) {
    return new Promise((resolve, reject) => {
      const settle = (error) => {
        this.#waiting.delete(settle);
        signal?.removeEventListener("abort", abort);
        if (error === void 0) resolve();
        else reject(error);
      };
      const abort = () => settle(signal?.reason);
      this.#waiting.add(settle);
      signal?.addEventListener("abort", abort);
      if (signal?.aborted) abort();
      else if (this.#isOver) settle(new Error(NOT_KEPT));
    });
  }
  #notify(error) {
    for (const settle of [...this.#waiting]) settle(error);
  }
};

// src/streams/market/parse.ts
function isBar(update) {
  return hasTime(update) && (update.st === "c" || update.st === "o");
}
function isTrade(update) {
  return hasTime(update) && typeof update.p === "string";
}
function isQuote(update) {
  return hasTime(update) && "bp" in update && "ap" in update;
}
function isDepth(update) {
  return Array.isArray(update.b) && Array.isArray(update.a);
}
function isContract(update) {
  return Array.isArray(update.legs) && update.legs.length > 0;
}
function hasTime({ ts }) {
  return typeof ts === "string" && /^\d+$/.test(ts);
}

// src/streams/market/channels.ts
var MISSED_MAX = 1e3;
var MS = { m: 6e4, h: 36e5, d: 864e5, w: 6048e5, M: 24192e5, y: 31536e6 };
function bars({ symbol, interval, session, backfill = 0 }) {
  let closed = null;
  let asked = 0;
  let due = 0;
  return {
    request(absenceMs) {
      asked = absenceMs === null ? backfill : Math.min(due + missedBars(absenceMs, interval), Math.max(MISSED_MAX, backfill));
      return { channel: "bars", symbol, interval, ...session !== void 0 && { session }, backfill_nbars: asked };
    },
    accepted() {
      due = asked;
    },
    resumed(absenceMs) {
      due += missedBars(absenceMs, interval);
    },
    put(update, queue) {
      const { o, h, l, c, v, ts, st } = checked(update, isBar);
      const start = BigInt(ts);
      if (st === "c") due = Math.max(0, due - 1);
      if (closed !== null && start <= closed) return;
      const bar = { o, h, l, c, v, ts, st };
      if (st === "o") return queue.put(bar, "open");
      closed = start;
      queue.delete("open");
      queue.put(bar);
    }
  };
}
function missedBars(absenceMs, interval) {
  const [, count = "1", unit = "m"] = /^(\d+)(\w)$/.exec(interval) ?? [];
  return Math.ceil(absenceMs / (Number(count) * (MS[unit] ?? MS.m ?? 1))) + 1;
}
function trades(symbol, session) {
  return {
    request: () => ({ channel: "trades", symbol, ...session !== void 0 && { session } }),
    put(update, queue) {
      const { p, s, n, ts } = checked(update, isTrade);
      queue.put({ p, s, n, ts });
    }
  };
}
function quotes(symbol) {
  return {
    request: () => ({ channel: "quotes", symbol }),
    put(update, queue) {
      const { bp, bs, ap, as, ts } = checked(update, isQuote);
      queue.put({ bp, bs, ap, as, ts }, "newest");
    }
  };
}
function depth(symbol, levels) {
  return {
    request: () => ({ channel: "depth", symbol, ...levels !== void 0 && { n_levels: levels } }),
    put(update, queue) {
      const { b, a } = checked(update, isDepth);
      queue.put({ b, a }, "newest");
    }
  };
}
function chain(symbol, expiration, greeks) {
  return {
    request: () => ({ channel: "options_chain", symbol, expiration, greeks }),
    put(update, queue) {
      const { sub_id: _, ...contract } = checked(update, isContract);
      queue.put(contract, contract.legs[0]?.sym);
    }
  };
}
function checked(update, is) {
  if (!is(update)) throw new Error("an update of market data has another form than its subscription");
  return update;
}

// src/streams/market/history.ts
function historyRead({ symbol, interval, start, end: before }) {
  let resolve;
  let end = () => void 0;
  return {
    bars: new Promise((onBars, onError) => {
      resolve = onBars;
      end = onError;
    }),
    end: (error) => end(error),
    request: () => ({ action: "snapshot", data_type: "bars", symbol, interval, start_time: start, end_time: before }),
    put({ data }) {
      const items = Array.isArray(data) ? data.map(Object) : [{}];
      const bars2 = items.filter(isBar);
      if (bars2.length === items.length) resolve(bars2.map(({ o, h, l, c, v, ts, st }) => ({ o, h, l, c, v, ts, st })));
      else end(new StreamError("subscription_refused", "the answer is not bars"));
    },
    accepted() {
    },
    interrupted() {
    }
  };
}

// src/streams/market/subscription.ts
var WAITING_MAX2 = 1e5;
function subscriptionOf(channel, onStatus, timers, left) {
  const queue = queueOf();
  let reported;
  let currentMs = null;
  const reader = readerOf(queue.take, left);
  function current() {
    const now = timers.nowMs();
    if (currentMs !== null && reported !== null) channel.resumed?.(now - currentMs);
    currentMs = now;
    void report(null);
  }
  async function report(reason) {
    if (reason === reported) return;
    reported = reason;
    const status = reason === null ? { isLive: true } : { isLive: false, reason };
    try {
      await onStatus?.(status);
    } catch {
    }
  }
  return {
    ...reader,
    request: () => channel.request(currentMs === null ? null : timers.nowMs() - currentMs),
    accepted() {
      current();
      channel.accepted?.();
    },
    put(update) {
      current();
      channel.put(update, queue);
      reader.wake();
      if (queue.length() > WAITING_MAX2) reader.end(new StreamError("too_slow", `${WAITING_MAX2} updates wait for their reader`));
    },
    interrupted: (reason) => void report(reason)
  };
}

// src/streams/market/sessions.ts
var SUBSCRIPTIONS_MAX = 500;
var AGAIN_MS = 5e3;
var AUTHENTICATE = "authenticate";
var OTHER_STREAM = "url is of the broker stream: market data is at /market-data/stream";
var RENEWABLE = /^auth_error: .*(get a new access token|connect again)/i;
var TOKEN_HOLDS = /connect again/i;
var PASSING = /* @__PURE__ */ new Set(["broker_unavailable", "internal_error", "subscription_limit"]);
function marketSessions(options = Object()) {
  const subscriptions = /* @__PURE__ */ new Set();
  const asked = /* @__PURE__ */ new Map();
  const accepted = /* @__PURE__ */ new Map();
  const waiting = /* @__PURE__ */ new Map();
  let requestId = 0;
  if (typeof options.token !== "function")
    throw invalid(`token must be a function that gets an access token, and was ${typeof options.token}`);
  let token = null;
  const connection = streamConnection(options, {
    opened: () => void authenticate(),
    received,
    ended(reason) {
      asked.clear();
      accepted.clear();
      for (const stop of waiting.values()) stop();
      for (const one of [...subscriptions]) one.interrupted(reason);
    },
    failed: (error) => {
      for (const one of [...subscriptions]) one.end(error);
    },
    ping: () => ({ action: "ping", request_id: nextId() }),
    secret: () => token ?? "",
    renewable: RENEWABLE
  });
  function demandCapacity() {
    if (subscriptions.size >= SUBSCRIPTIONS_MAX)
      throw new StreamError("too_many", `one stream has at most ${SUBSCRIPTIONS_MAX} subscriptions`);
  }
  function add(subscription) {
    subscriptions.add(subscription);
    connection.start();
    ask(subscription);
  }
  function remove(subscription) {
    subscriptions.delete(subscription);
    waiting.get(subscription)?.();
    for (const [id, one] of asked) if (one === subscription) asked.delete(id);
    for (const [id, one] of accepted) if (one === subscription) unsubscribe(id);
    if (subscriptions.size === 0) connection.stop();
  }
  function unsubscribe(subId) {
    accepted.delete(subId);
    request({ action: "unsubscribe", sub_id: subId });
  }
  async function authenticate() {
    const { session } = connection;
    const isPast = () => session !== connection.session;
    try {
      const issued = token ?? await options.token();
      if (isPast()) token ??= issued;
      else {
        token = issued;
        connection.send({ action: AUTHENTICATE, access_token: token, request_id: AUTHENTICATE });
      }
    } catch (error) {
      if (isPast()) return;
      if (isFinal(error)) connection.fail(error);
      else connection.end("no access token was issued");
    }
  }
  function received(message) {
    const { type, request_id: id, sub_id: subId } = message;
    if (type === "auth_success") {
      connection.ready();
      for (const one2 of subscriptions) ask(one2);
      return;
    }
    const one = asked.get(String(id));
    asked.delete(String(id));
    if (type === "error") failed(message, one);
    else if (type === "snapshot_response") one?.put(message);
    else if (type === "subscription_success") began(String(subId), one);
    else if (type === void 0 || type === "depth_update") accepted.get(String(subId))?.put(message);
    else if (type === "welcome") connection.fail(invalid(OTHER_STREAM));
  }
  function began(subId, one) {
    if (one === void 0) {
      unsubscribe(subId);
      return;
    }
    accepted.set(subId, one);
    one.accepted();
  }
  function failed({ error_code: code, request_id: id, sub_ids: subIds, message }, one) {
    const why = `${String(code)}: ${String(message)}`;
    if (Array.isArray(subIds)) for (const subId of subIds) accepted.get(String(subId))?.interrupted(why);
    else if (one === void 0) sessionFailed(code, id, why);
    else if (PASSING.has(code)) {
      one.interrupted(why);
      askLater(one);
    } else one.end(new StreamError("subscription_refused", why, String(code)));
  }
  function sessionFailed(code, id, why) {
    if (id === AUTHENTICATE && !PASSING.has(code)) connection.refused(why);
    else if (id === AUTHENTICATE || id === null && code === "invalid_request") connection.end(why);
    else if (id === null) connection.reported(why);
    if (code === "auth_error" && !TOKEN_HOLDS.test(why)) token = null;
  }
  function askLater(subscription) {
    const cancel = connection.timers.after(AGAIN_MS, () => {
      stop();
      ask(subscription);
    });
    const stop = () => {
      waiting.delete(subscription);
      cancel();
    };
    waiting.set(subscription, stop);
  }
  function ask(subscription) {
    if (!connection.isReady || !subscriptions.has(subscription)) return;
    if ([...asked.values(), ...accepted.values()].includes(subscription)) return;
    asked.set(request({ action: "subscribe", ...subscription.request() }), subscription);
  }
  function request(message) {
    const id = nextId();
    connection.send({ ...message, request_id: id });
    return id;
  }
  function nextId() {
    requestId += 1;
    return String(requestId);
  }
  return {
    ageMs: () => connection.ageMs,
    read(channel, { signal, onStatus }) {
      demandCapacity();
      const subscription = subscriptionOf(channel, onStatus, connection.timers, () => remove(subscription));
      subscription.stopWith(signal);
      if (!subscription.isEnded()) add(subscription);
      return subscription;
    },
    async history(asking) {
      const { signal } = asking;
      signal?.throwIfAborted();
      demandCapacity();
      const read = historyRead(asking);
      const abort = () => read.end(signal?.reason);
      add(read);
      signal?.addEventListener("abort", abort);
      try {
        return await read.bars;
      } finally {
        signal?.removeEventListener("abort", abort);
        remove(read);
      }
    }
  };
}

// src/streams/market/stream.ts
var MarketStream = class {
  #sessions;
  /** @throws StreamError setting_invalid */
  constructor(options) {
    this.#sessions = marketSessions(options);
  }
  /** Milliseconds since the service was last received, null before the first message. */
  get ageMs() {
    return this.#sessions.ageMs();
  }
  /** Past bars, then the open one whenever it changes, and each once when it closes. Those of an interruption come when it is over. */
  bars(options) {
    return this.#sessions.read(bars(options), options);
  }
  /** Every trade while connected. Those of an interruption are not sent; `onStatus` reports it. */
  trades(options) {
    return this.#sessions.read(trades(options.symbol, options.session), options);
  }
  /** The present quote, then each newer one that the reader is in time for. */
  quotes(options) {
    return this.#sessions.read(quotes(options.symbol), options);
  }
  /** The present book, then each newer one that the reader is in time for. */
  depth(options) {
    return this.#sessions.read(depth(options.symbol, options.levels), options);
  }
  /** Every contract of the expiration, then each that changes. */
  chain(options) {
    return this.#sessions.read(chain(options.symbol, options.expiration, options.greeks ?? false), options);
  }
  /** Past bars, at most 50,000. Asked for again if the connection breaks meanwhile. @throws StreamError */
  history(options) {
    return this.#sessions.history(options);
  }
};

// src/streams/rest.ts
function eventsOf({ events }) {
  return (userId, after, signal) => events({ user_id: userId, after, limit: 1e3 }, { signal });
}
function recordsOf({ events }, userId, { orders, positions, balances }) {
  return {
    async readSnapshot(signal) {
      const all = { limit: Number.POSITIVE_INFINITY };
      return {
        orders: await orders.list({ limit: 500 }, { signal }).toArray(all),
        positions: await positions.list({}, { signal }),
        balances: await balances.list({}, { signal })
      };
    },
    async readLastSeq(signal) {
      const { value } = await events({ user_id: userId, limit: 1 }, { signal }).pages().next();
      return value === void 0 ? 0 : value.answer.last_seq;
    }
  };
}
export {
  BrokerStream,
  LiveCopy,
  MarketStream,
  StreamError,
  digestOf,
  eventsOf,
  recordsOf
};
//# sourceMappingURL=streams.js.map
