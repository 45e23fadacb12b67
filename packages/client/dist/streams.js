// src/streams/errors.ts
var StreamError = class extends Error {
  name = "StreamError";
  code;
  /** Of a refused subscription to market data: the service's `error_code`. */
  reason;
  constructor(code, message, reason = null) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
};
function isFinal(error) {
  return typeof error === "object" && error !== null && "retrySafe" in error && error.retrySafe === false;
}

// src/streams/connection.ts
var SYSTEM_TIMERS = {
  nowMs: () => performance.now(),
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
var ENDED_BY_SERVICE = 4003;
var StreamConnection = class {
  timers;
  #options;
  #handlers;
  #Socket;
  #isRunning = false;
  #socket = null;
  #isOpen = false;
  #isReady = false;
  /** Of the timer that is set: the next look, or the next attempt. */
  #cancel = () => void 0;
  #receivedMs = null;
  #failures = 0;
  #refusals = 0;
  /** What the service reported before it closed. */
  #reported = null;
  /** @throws StreamError setting_invalid */
  constructor(options, handlers) {
    this.#options = options;
    this.#Socket = socketOf(options);
    this.#handlers = handlers;
    this.timers = options.timers ?? SYSTEM_TIMERS;
  }
  /** Authenticated: requests can be sent. */
  get isReady() {
    return this.#isReady;
  }
  /** Milliseconds since the service was last received; null before the first message. */
  get ageMs() {
    return this.#receivedMs === null ? null : this.timers.nowMs() - this.#receivedMs;
  }
  start() {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#open();
  }
  /** The handlers are not called any more. */
  stop() {
    this.#isRunning = false;
    this.#forget();
  }
  send(message) {
    if (this.#isOpen) this.#socket?.send(JSON.stringify(message));
  }
  /** The service took the credentials. */
  ready() {
    this.#isReady = true;
    this.#failures = 0;
    this.#refusals = 0;
  }
  /** Keeps what the service reported, as the reason if a close follows. */
  reported(why) {
    this.#reported = why;
  }
  /** The service did not take the credentials. That may pass, so it is tried again, but only twice. */
  refused(why) {
    this.#refusals += 1;
    if (this.#refusals >= REFUSALS_MAX) this.fail(new StreamError("credentials_refused", why));
    else this.end(why);
  }
  end(reason) {
    this.#ended(1e3, reason);
  }
  fail(error) {
    if (!this.#isRunning) return;
    this.stop();
    this.#handlers.failed(error);
  }
  #open() {
    this.#reported = null;
    const openedMs = this.timers.nowMs();
    try {
      const socket = new this.#Socket(this.#options.url);
      this.#socket = socket;
      const guarded = (run) => () => this.#guard(socket, run);
      socket.addEventListener(
        "open",
        guarded(() => this.#opened())
      );
      socket.addEventListener("message", ({ data }) => this.#guard(socket, () => this.#received(data)));
      socket.addEventListener("close", ({ code, reason }) => this.#guard(socket, () => this.#ended(code, String(reason))));
      socket.addEventListener("error", () => void 0);
      this.#look(openedMs);
    } catch (error) {
      this.fail(error);
    }
  }
  #opened() {
    this.#isOpen = true;
    this.#handlers.opened();
  }
  #received(data) {
    this.#receivedMs = this.timers.nowMs();
    this.#handlers.received(parsed(data));
  }
  /** What an earlier socket still reports is ignored. */
  #guard(socket, run) {
    if (this.#socket !== socket) return;
    try {
      run();
    } catch (error) {
      this.end(error instanceof Error ? error.message : String(error));
    }
  }
  #look(sinceMs) {
    this.#cancel = this.timers.after(LOOK_EVERY_MS, () => {
      const silentMs = this.timers.nowMs() - Math.max(sinceMs, this.#receivedMs ?? sinceMs);
      if (silentMs >= DEAD_AFTER_MS) {
        this.end("the service was silent for too long");
        return;
      }
      if (silentMs >= PING_AFTER_MS) this.send(this.#handlers.ping());
      this.#look(sinceMs);
    });
  }
  #ended(code, reason) {
    if (this.#socket === null) return;
    const why = this.#reported ?? (reason === "" ? `closed with ${code}` : reason);
    const wasRefused = this.#refusals > 0;
    this.#forget();
    this.#handlers.ended(why);
    if (code === ENDED_BY_SERVICE) {
      this.fail(new StreamError("ended_by_service", why));
      return;
    }
    const bound = Math.min(WAIT_MS.max, WAIT_MS.first * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    const waitMs = wasRefused ? WAIT_MS.max : (this.#options.random ?? Math.random)() * bound;
    if (this.#isRunning) this.#cancel = this.timers.after(waitMs, () => this.#open());
  }
  #forget() {
    const socket = this.#socket;
    this.#socket = null;
    this.#isOpen = false;
    this.#isReady = false;
    this.#cancel();
    try {
      socket?.close();
    } catch {
    }
  }
};
function socketOf({ url, allowHttp, socket = globalThis.WebSocket }) {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : new URL("x:");
  const isLocal = allowHttp || /^(localhost|127(\.\d+){3}|\[::1])$/.test(hostname);
  if (protocol !== "wss:" && !(protocol === "ws:" && isLocal)) throw new StreamError("setting_invalid", "url must be wss, or this machine");
  if (!socket) throw new StreamError("setting_invalid", "this runtime has no WebSocket: pass that of the package ws as `socket`");
  return socket;
}
function parsed(data) {
  const message = typeof data === "string" ? JSON.parse(data) : null;
  if (typeof message !== "object" || message === null || Array.isArray(message)) throw new Error("a message is not a JSON object");
  return { ...message };
}

// src/streams/queue.ts
var Queue = class {
  #items = [];
  /** Of the array, what was taken already. */
  #taken = 0;
  #error;
  #isEnded = false;
  #wake = () => void 0;
  get length() {
    return this.#items.length - this.#taken;
  }
  put(item) {
    if (this.#isEnded) return;
    this.#items.push(item);
    this.#wake();
  }
  /** Puts an item in the place of the waiting one that it makes needless, or at the end. */
  replace(item, isOld) {
    const index = this.#items.findIndex((waiting, at) => at >= this.#taken && isOld(waiting));
    if (index < 0) this.put(item);
    else this.#items[index] = item;
  }
  /** What waits is still read; then the reader ends, with the error if there is one. */
  end(error) {
    if (!this.#isEnded) this.#error = error;
    this.#isEnded = true;
    this.#wake();
  }
  /** One reader at a time. Ends at once when the signal aborts. `leave`: called when it has ended, however. */
  async *read(signal, leave) {
    const stop = () => this.#wake();
    signal?.addEventListener("abort", stop);
    try {
      while (!isAborted(signal)) {
        const item = this.#items[this.#taken];
        if (this.length > 0 && item !== void 0) {
          this.#take();
          yield item;
        } else if (this.#isEnded) {
          if (this.#error !== void 0) throw this.#error;
          return;
        } else {
          await new Promise((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      signal?.removeEventListener("abort", stop);
      leave();
    }
  }
  #take() {
    this.#taken += 1;
    if (this.#taken < this.#items.length && this.#taken < 1024) return;
    this.#items = this.#items.slice(this.#taken);
    this.#taken = 0;
  }
};
function isAborted(signal) {
  return signal?.aborted === true;
}

// src/streams/broker/follower.ts
var READ_AGAIN_MS = 5e3;
var ASK_AGAIN_MS = 1e3;
var REFUSALS_MAX2 = { resuming: 3, beginning: 5 };
var Follower = class {
  queue = new Queue();
  #userId;
  #connection;
  #waitingMax;
  #readEvents;
  #over = new AbortController();
  #state = "off";
  /** The last `seq` that was put into the queue; null: begin with a snapshot. */
  #seq;
  /** Why a snapshot is needed again. */
  #lost = null;
  #isBehind = false;
  #isReading = false;
  /** Of the subscription that is asked for. */
  #refusals = 0;
  constructor(userId, seq, connection, waitingMax, readEvents) {
    this.#userId = userId;
    this.#seq = seq;
    this.#connection = connection;
    this.#waitingMax = waitingMax;
    this.#readEvents = readEvents;
  }
  /** What the reader gets; it leaves when the reading ends. */
  async *read(signal, leave) {
    const left = () => {
      this.#over.abort();
      if (this.#state !== "off") this.#ask("unsubscribe_user");
      leave();
    };
    for await (const item of this.queue.read(signal, left)) {
      yield item;
      if (item.type === "begin" && this.#state === "on") this.#live();
      if (!this.#isBehind || this.queue.length > 0) continue;
      this.#isBehind = false;
      this.subscribe();
    }
  }
  /** Asks for what follows, unless that is under way or the reader is behind. */
  subscribe() {
    if (!this.#connection.isReady || this.#state !== "off" || this.#isBehind || this.#over.signal.aborted) return;
    this.#state = "asked";
    this.#ask("subscribe_user", this.#seq === null ? {} : { after: this.#seq });
  }
  interrupted(reason) {
    if (this.#state === "on") this.queue.put({ type: "interrupted", reason });
    this.#state = "off";
  }
  subscribed(seq) {
    if (this.#state !== "asked") return;
    this.#state = "on";
    this.#refusals = 0;
    if (this.#seq !== null) return;
    this.#seq = seq;
    this.queue.put({ type: "begin", seq, reason: this.#lost });
    this.#lost = null;
  }
  caughtUp() {
    if (this.#state === "on") this.#live();
  }
  /** @throws Error if a number is missing, so that the session ends and the next one goes on from what came */
  update(update) {
    if (this.#state !== "on" || this.#seq === null || update.seq <= this.#seq) return;
    if (update.seq !== this.#seq + 1) throw new Error(`number ${this.#seq + 1} of ${this.#userId} is missing`);
    this.#put(update);
  }
  health(status) {
    if (this.#state === "on") this.queue.put(status);
  }
  unsubscribed() {
    if (this.#state === "leaving") {
      this.#state = "off";
      this.subscribe();
    } else if (this.#state === "on") {
      this.queue.put({ type: "deleted" });
      this.queue.end();
    }
  }
  /** What is not replayed is read from the log; if the log does not have it either, a snapshot is needed. */
  refused(message) {
    if (this.#state !== "asked") return;
    this.#state = "off";
    if (this.#isReading) return;
    this.#refusals += 1;
    const isResuming = this.#seq !== null;
    if (isResuming && this.#refusals === 1 && this.#readEvents !== void 0) void this.#catchUp(this.#readEvents, message);
    else if (this.#refusals < (isResuming ? REFUSALS_MAX2.resuming : REFUSALS_MAX2.beginning))
      this.#connection.timers.after(ASK_AGAIN_MS * 2 ** (this.#refusals - 1), () => this.subscribe());
    else if (isResuming) this.#begin(message);
    else this.queue.end(new StreamError("subscription_refused", message));
  }
  #ask(action, more = {}) {
    this.#connection.send({ action, user_id: this.#userId, ...more });
  }
  #live() {
    this.queue.put({ type: "live", seq: this.#seq ?? 0 });
  }
  #put(update) {
    this.#seq = update.seq;
    this.queue.put(update);
    if (this.queue.length < this.#waitingMax) return;
    this.#isBehind = true;
    this.queue.put({ type: "interrupted", reason: `${this.queue.length} updates wait for their reader` });
    if (this.#state === "off") return;
    this.#state = "leaving";
    this.#ask("unsubscribe_user");
  }
  #begin(why) {
    this.#seq = null;
    this.#refusals = 0;
    this.#lost = why;
    this.subscribe();
  }
  /** Reads what is stored, then subscribes again. Never rejects. */
  async #catchUp(readEvents, why) {
    this.#isReading = true;
    const { signal } = this.#over;
    let isGone = false;
    try {
      for await (const update of readEvents(this.#userId, this.#seq ?? 0, signal)) {
        if (this.#seq === null || update.seq <= this.#seq) continue;
        isGone = update.seq !== this.#seq + 1;
        if (isGone || this.#isBehind || signal.aborted) break;
        this.#put(update);
      }
    } catch (error) {
      isGone = Object(error).code === "events_missing";
      if (!isGone) await this.#failedToRead(error);
    }
    this.#isReading = false;
    if (this.#state !== "off") return;
    if (isGone) this.#begin(why);
    else this.subscribe();
  }
  async #failedToRead(error) {
    if (isFinal(error)) this.queue.end(error);
    this.#refusals = 0;
    await new Promise((resolve) => this.#connection.timers.after(READ_AGAIN_MS, resolve));
  }
};

// src/streams/broker/parse.ts
function isUpdate(message) {
  if (typeof message.event_id !== "string") return false;
  if (!Number.isSafeInteger(message.seq)) throw new Error(`an update has the seq ${String(message.seq)}`);
  if (typeof message.data !== "object" || message.data === null) throw new Error("an update has no data");
  return true;
}
function isHealth(message) {
  return message.type === "stream_status";
}

// src/streams/broker/stream.ts
var USERS_MAX = 500;
var WAITING_MAX = 1e4;
var BrokerStream = class {
  #options;
  #connection;
  #followers = /* @__PURE__ */ new Map();
  constructor(options) {
    this.#options = options;
    this.#connection = new StreamConnection(options, {
      opened: () => void 0,
      received: (message) => this.#received(message),
      ended: (reason) => {
        for (const follower of this.#followers.values()) follower.interrupted(reason);
      },
      failed: (error) => {
        for (const { queue } of this.#followers.values()) queue.end(error);
      },
      ping: () => ({ action: "ping" })
    });
  }
  /** Milliseconds since the service was last received, null before the first message. A working connection is at most about 20 s old. */
  get ageMs() {
    return this.#connection.ageMs;
  }
  /**
   * A user's updates, in order, each once, over any number of connections. Ends when the user was deleted or the signal aborts.
   * @throws StreamError
   */
  follow(userId, { after, signal } = {}) {
    const followers = this.#followers;
    if (followers.has(userId)) throw new StreamError("subscription_refused", `${userId} is followed already`);
    if (followers.size >= USERS_MAX) throw new StreamError("too_many", `one stream follows at most ${USERS_MAX} users`);
    const { waitingMax = WAITING_MAX, readEvents } = this.#options;
    const follower = new Follower(userId, after ?? null, this.#connection, waitingMax, readEvents);
    followers.set(userId, follower);
    this.#connection.start();
    follower.subscribe();
    return follower.read(signal, () => {
      followers.delete(userId);
      if (followers.size === 0) this.#connection.stop();
    });
  }
  #received(message) {
    const { clientId, clientSecret } = this.#options;
    switch (message.type) {
      case "welcome":
        this.#connection.send({ action: "authenticate", client_id: clientId, client_secret: clientSecret, extensions: ["stream_status"] });
        break;
      case "auth_error":
        this.#connection.refused(String(message.message));
        break;
      case "auth_success":
        this.#connection.ready();
        this.#connection.send({ action: "subscribe", topics: ["all"] });
        for (const follower of this.#followers.values()) follower.subscribe();
        break;
      default: {
        const follower = typeof message.user_id === "string" ? this.#followers.get(message.user_id) : void 0;
        if (follower !== void 0) receivedBy(follower, message);
      }
    }
  }
};
function receivedBy(follower, message) {
  if (isUpdate(message)) follower.update(message);
  else if (isHealth(message)) follower.health(message);
  else if (message.type === "user_subscribed") follower.subscribed(Number(message.seq));
  else if (message.type === "caught_up") follower.caughtUp();
  else if (message.type === "subscription_failed") follower.refused(String(message.message));
  else if (message.type === "user_unsubscribed") follower.unsubscribed();
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
var LiveCopy = class {
  #options;
  #waiting = /* @__PURE__ */ new Set();
  #records = new Records();
  #health = /* @__PURE__ */ new Map();
  #seq = null;
  #isLive = false;
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
  /** How each connection follows its broker, by `connection_id`: a copy is only as current as that. */
  get health() {
    return this.#health;
  }
  /** The copy is complete up to this update; null before its beginning. */
  get seq() {
    return this.#seq;
  }
  /** Whether updates arrive as they happen. */
  get isLive() {
    return this.#isLive;
  }
  /** Milliseconds since the service was last received; null before that. */
  get ageMs() {
    return this.#options.stream.ageMs;
  }
  /**
   * Keeps the copy until the signal aborts or the user is deleted, and yields each change after it was saved.
   * @throws StreamError, and what `load`, `save` and `readSnapshot` throw
   */
  async *run(signal) {
    const { stream, userId, load } = this.#options;
    const stored = await load?.() ?? null;
    if (stored !== null) this.#replace(new Records(stored), stored.seq);
    try {
      for await (const item of stream.follow(userId, { signal, ...stored !== null && { after: stored.seq } })) {
        if (item.type === "deleted") return "deleted";
        const change = await this.#take(item, signal);
        if (change === null) continue;
        await this.#options.save?.(change, this);
        yield change;
      }
      return "stopped";
    } finally {
      this.#setLive(false);
    }
  }
  /** An answer to a request of your own may be newer than the last update. */
  putOrder(order) {
    this.#records.putOrder(order);
  }
  /** Removes the records of a connection that was deleted; no update does. */
  forget(connectionId) {
    this.#records.forget(connectionId);
    this.#health.delete(connectionId);
  }
  /** Resolves when it is live; never, if it does not become so. */
  async live() {
    while (!this.#isLive) await this.#changed();
  }
  /** SHA-256 over all records; {@link digestOf} of a snapshot that holds the same is equal. */
  digest() {
    return digestOf(this.#records.toSnapshot());
  }
  /**
   * Compares the copy with what REST returns, at a moment in which both have the same `seq`.
   * @throws Error if there is no such moment in ten tries, because something changes all the time
   */
  async verify(signal) {
    const { readSnapshot, readLastSeq } = this.#options;
    if (readLastSeq === void 0) throw new Error("verify needs readLastSeq");
    for (let tries = 0; tries < VERIFY_TRIES; tries += 1) {
      const snapshot = await readSnapshot(signal);
      const seq = await readLastSeq(signal);
      while (this.#seq !== null && this.#seq < seq) {
        signal.throwIfAborted();
        await this.#changed(signal);
      }
      const held = this.#records.toSnapshot();
      const [isStill, digest, expected] = [this.#seq === seq, await digestOf(held), await digestOf(snapshot)];
      if (isStill && digest === expected) return { isEqual: true, seq, digest };
      if (isStill && await this.#isUnchanged(seq, expected, signal)) return { isEqual: false, seq, digest, expected };
    }
    throw new Error(`the records changed during each of ${VERIFY_TRIES} comparisons`);
  }
  async #isUnchanged(seq, expected, signal) {
    const { readSnapshot, readLastSeq } = this.#options;
    const again = await digestOf(await readSnapshot(signal));
    return again === expected && await readLastSeq?.(signal) === seq && this.#seq === seq;
  }
  async #take(item, signal) {
    switch (item.type) {
      case "begin": {
        const snapshot = await this.#options.readSnapshot(signal);
        this.#replace(new Records(snapshot), item.seq);
        return { type: "begin", seq: item.seq, snapshot };
      }
      case "live":
        this.#setLive(true);
        return null;
      case "interrupted":
        this.#setLive(false);
        return null;
      case "stream_status":
        this.#health.set(item.connection_id, item);
        return null;
      default:
        this.#records.apply(item);
        this.#seq = item.seq;
        this.#notify();
        return item;
    }
  }
  #replace(records, seq) {
    this.#records = records;
    this.#seq = seq;
    this.#notify();
  }
  #setLive(isLive) {
    this.#isLive = isLive;
    this.#notify();
  }
  #changed(signal) {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal?.addEventListener("abort", wake);
    });
  }
  #notify() {
    for (const wake of [...this.#waiting]) wake();
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
  return {
    request(nowMs) {
      const missed = closed === null ? backfill : Math.min(missedBars(closed, interval, nowMs), Math.max(MISSED_MAX, backfill));
      return { channel: "bars", symbol, interval, ...session !== void 0 && { session }, backfill_nbars: missed };
    },
    put(update, queue) {
      const { o, h, l, c, v, ts, st } = checked(update, isBar);
      const start = BigInt(ts);
      if (closed !== null && start <= closed) return;
      if (st === "c") closed = start;
      queue.replace({ o, h, l, c, v, ts, st }, (waiting) => waiting.st === "o");
    }
  };
}
function missedBars(closed, interval, nowMs) {
  const [, count = "1", unit = "m"] = /^(\d+)(\w)$/.exec(interval) ?? [];
  return Math.ceil((nowMs - Number(closed / 1000000n)) / (Number(count) * (MS[unit] ?? MS.m ?? 1))) + 1;
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
      queue.replace({ bp, bs, ap, as, ts }, () => true);
    }
  };
}
function depth(symbol, levels) {
  return {
    request: () => ({ channel: "depth", symbol, ...levels !== void 0 && { n_levels: levels } }),
    put(update, queue) {
      const { b, a } = checked(update, isDepth);
      queue.replace({ b, a }, () => true);
    }
  };
}
function chain(symbol, expiration, greeks) {
  const symbolOf = ({ legs }) => legs[0]?.sym;
  return {
    request: () => ({ channel: "options_chain", symbol, expiration, greeks }),
    put(update, queue) {
      const { sub_id: _, ...contract } = checked(update, isContract);
      queue.replace(contract, (waiting) => symbolOf(waiting) === symbolOf(contract));
    }
  };
}
function checked(update, is) {
  if (!is(update)) throw new Error("an update of market data has another form than its subscription");
  return update;
}

// src/streams/market/history.ts
var HistoryRead = class {
  #options;
  /** Rejects with what it failed with. */
  bars;
  #resolve = () => void 0;
  #reject = () => void 0;
  constructor(options) {
    this.#options = options;
    this.bars = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    options.signal?.addEventListener("abort", () => this.fail(options.signal?.reason));
  }
  request() {
    const { symbol, interval, start, end } = this.#options;
    return { action: "snapshot", data_type: "bars", symbol, interval, start_time: start, end_time: end };
  }
  put({ data }) {
    if (!Array.isArray(data)) this.fail(new StreamError("subscription_refused", "the answer has no bars"));
    else this.#resolve(data.filter(isBar).map(({ o, h, l, c, v, ts, st }) => ({ o, h, l, c, v, ts, st })));
  }
  accepted() {
  }
  interrupted() {
  }
  fail(error) {
    this.#reject(error);
  }
};

// src/streams/market/subscription.ts
var WAITING_MAX2 = 1e5;
var ChannelSubscription = class {
  queue = new Queue();
  #channel;
  #onStatus;
  #isLive = false;
  constructor(channel, onStatus = () => void 0) {
    this.#channel = channel;
    this.#onStatus = onStatus;
  }
  request(nowMs) {
    return this.#channel.request(nowMs);
  }
  accepted() {
    this.#report({ isLive: true });
  }
  put(update) {
    this.#report({ isLive: true });
    this.#channel.put(update, this.queue);
    if (this.queue.length > WAITING_MAX2) this.fail(new StreamError("too_slow", `${WAITING_MAX2} updates wait for their reader`));
  }
  interrupted(reason) {
    this.#report({ isLive: false, reason });
  }
  fail(error) {
    this.queue.end(error);
  }
  #report(status) {
    if (status.isLive === this.#isLive) return;
    this.#isLive = status.isLive;
    try {
      this.#onStatus(status);
    } catch {
    }
  }
};

// src/streams/market/stream.ts
var SUBSCRIPTIONS_MAX = 500;
var AGAIN_MS = 5e3;
var AUTHENTICATE = "authenticate";
var MarketStream = class {
  #options;
  #connection;
  #subscriptions = /* @__PURE__ */ new Set();
  /** Of the present session: what has no answer yet, by `request_id`, … */
  #asked = /* @__PURE__ */ new Map();
  /** … and what has one, by `sub_id`. */
  #accepted = /* @__PURE__ */ new Map();
  #requestId = 0;
  #token = null;
  constructor(options) {
    this.#options = options;
    this.#connection = new StreamConnection(options, {
      opened: () => void this.#authenticate(),
      received: (message) => this.#received(message),
      ended: (reason) => this.#ended(reason),
      failed: (error) => {
        for (const one of this.#subscriptions) one.fail(error);
      },
      ping: () => ({ action: "ping", request_id: this.#nextId() })
    });
  }
  /** Milliseconds since the service was last received, null before the first message. */
  get ageMs() {
    return this.#connection.ageMs;
  }
  /** Past bars, then the open one whenever it changes, and each once when it closes. Those of an interruption come when it is over. */
  bars(options) {
    return this.#read(bars(options), options);
  }
  /** Every trade while connected. Those of an interruption are not sent; `onStatus` reports it. */
  trades(options) {
    return this.#read(trades(options.symbol, options.session), options);
  }
  /** The present quote, then each newer one that the reader is in time for. */
  quotes(options) {
    return this.#read(quotes(options.symbol), options);
  }
  /** The present book, then each newer one that the reader is in time for. */
  depth(options) {
    return this.#read(depth(options.symbol, options.levels), options);
  }
  /** Every contract of the expiration, then each that changes. */
  chain(options) {
    return this.#read(chain(options.symbol, options.expiration, options.greeks ?? false), options);
  }
  /** Past bars, at most 50,000. Asked for again if the connection breaks meanwhile. @throws StreamError */
  async history(options) {
    options.signal?.throwIfAborted();
    const read = new HistoryRead(options);
    this.#add(read);
    try {
      return await read.bars;
    } finally {
      this.#remove(read);
    }
  }
  #read(channel, { signal, onStatus }) {
    const subscription = new ChannelSubscription(channel, onStatus);
    this.#add(subscription);
    return subscription.queue.read(signal, () => this.#remove(subscription));
  }
  #add(subscription) {
    if (this.#subscriptions.size >= SUBSCRIPTIONS_MAX)
      throw new StreamError("too_many", `one stream has at most ${SUBSCRIPTIONS_MAX} subscriptions`);
    this.#subscriptions.add(subscription);
    this.#connection.start();
    this.#ask(subscription);
  }
  #remove(subscription) {
    this.#subscriptions.delete(subscription);
    for (const [id, one] of this.#asked) if (one === subscription) this.#asked.delete(id);
    for (const [id, one] of this.#accepted) if (one === subscription) this.#unsubscribe(id);
    if (this.#subscriptions.size === 0) this.#connection.stop();
  }
  #unsubscribe(subId) {
    this.#accepted.delete(subId);
    this.#request({ action: "unsubscribe", sub_id: subId });
  }
  /** Never rejects. */
  async #authenticate() {
    try {
      this.#token ??= await this.#options.token();
      this.#connection.send({ action: "authenticate", access_token: this.#token, request_id: AUTHENTICATE });
    } catch (error) {
      if (isFinal(error)) this.#connection.fail(error);
      else this.#connection.end("no access token was issued");
    }
  }
  #ended(reason) {
    this.#asked.clear();
    this.#accepted.clear();
    for (const one of this.#subscriptions) one.interrupted(reason);
  }
  #received(message) {
    const { type, request_id: id, sub_id: subId } = message;
    if (type === "auth_success") {
      this.#connection.ready();
      for (const one of this.#subscriptions) this.#ask(one);
      return;
    }
    const asked = this.#asked.get(String(id));
    this.#asked.delete(String(id));
    if (type === "error") this.#failed(message, asked);
    else if (type === "snapshot_response") asked?.put(message);
    else if (type === "subscription_success") this.#began(String(subId), asked);
    else if (type === void 0 || type === "depth_update") this.#accepted.get(String(subId))?.put(message);
  }
  #began(subId, asked) {
    if (asked === void 0) {
      this.#unsubscribe(subId);
      return;
    }
    this.#accepted.set(subId, asked);
    asked.accepted();
  }
  #failed({ error_code: code, request_id: id, sub_ids: subIds, message }, asked) {
    const why = `${String(code)}: ${String(message)}`;
    if (id === AUTHENTICATE) {
      this.#token = null;
      this.#connection.refused(why);
    } else if (Array.isArray(subIds)) for (const subId of subIds) this.#accepted.get(String(subId))?.interrupted(why);
    else if (asked === void 0) this.#connection.reported(why);
    else if (code === "broker_unavailable" || code === "internal_error") {
      asked.interrupted(why);
      this.#connection.timers.after(AGAIN_MS, () => this.#ask(asked));
    } else asked.fail(new StreamError("subscription_refused", why, String(code)));
  }
  /** Asks for it, unless that was done in this session, or it has ended. */
  #ask(subscription) {
    if (!this.#connection.isReady || !this.#subscriptions.has(subscription)) return;
    for (const known of [this.#asked, this.#accepted]) for (const one of known.values()) if (one === subscription) return;
    const id = this.#request({ action: "subscribe", ...subscription.request((this.#options.wallMs ?? Date.now)()) });
    this.#asked.set(id, subscription);
  }
  #request(message) {
    const id = this.#nextId();
    this.#connection.send({ ...message, request_id: id });
    return id;
  }
  #nextId() {
    this.#requestId += 1;
    return String(this.#requestId);
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
