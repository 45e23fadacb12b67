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
  /** Since something was received. */
  #isPinged = false;
  #failures = 0;
  #refusals = 0;
  /** What the service reported last, if it was an error: a close may follow. */
  #reported = null;
  /** @throws StreamError setting_invalid */
  constructor(options, handlers) {
    this.#options = options;
    this.#Socket = socketOf(options);
    this.#handlers = handlers;
    this.timers = options.timers ?? SYSTEM_TIMERS;
  }
  /** Another one for each connection, so that what was begun in one is not sent in the next. */
  get session() {
    return this.#socket;
  }
  /** Authenticated: requests can be sent. */
  get isReady() {
    return this.#isReady;
  }
  /** Milliseconds since the service was last received; null before the first message. */
  get ageMs() {
    return this.#receivedMs === null ? null : this.timers.nowMs() - this.#receivedMs;
  }
  /** A machine that slept, or a link that is dead, has a socket that is open all the same: until it is given up, this tells. */
  get isReceiving() {
    const { ageMs } = this;
    return ageMs !== null && ageMs < DEAD_AFTER_MS;
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
    this.#refusals = 0;
  }
  /** Keeps what the service reported, as the reason if a close follows. */
  reported(why) {
    this.#reported = this.#clean(why);
  }
  /** The service did not take the credentials. That may pass, so it is tried again, but only twice. */
  refused(why) {
    this.#refusals += 1;
    if (this.#refusals >= REFUSALS_MAX) this.fail(new StreamError("credentials_refused", this.#clean(why)));
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
    this.#isPinged = false;
    const openedMs = this.timers.nowMs();
    try {
      const socket = new this.#Socket(this.#options.url);
      this.#socket = socket;
      socket.addEventListener("open", () => this.#guard(socket, () => this.#opened()));
      socket.addEventListener("message", ({ data }) => this.#guard(socket, () => this.#received(data)));
      socket.addEventListener("close", ({ code, reason }) => this.#guard(socket, () => this.#ended(code, String(reason))));
      socket.addEventListener("error", () => this.#guard(socket, () => this.#isOpen || this.#ended(1006, "")));
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
    const wasSilent = !this.isReceiving;
    this.#receivedMs = this.timers.nowMs();
    this.#isPinged = false;
    this.#reported = null;
    this.#handlers.received(parsed(data), wasSilent);
  }
  /** What an earlier socket still reports is ignored. */
  #guard(socket, run) {
    if (this.#socket !== socket) return;
    try {
      run();
    } catch (error) {
      if (this.#socket === socket) this.end(error instanceof Error ? error.message : String(error));
    }
  }
  #look(sinceMs) {
    this.#cancel = this.timers.after(LOOK_EVERY_MS, () => {
      const silentMs = this.timers.nowMs() - Math.max(sinceMs, this.#receivedMs ?? sinceMs);
      if (silentMs >= DEAD_AFTER_MS && (this.#isPinged || !this.#isOpen)) {
        this.end("the service was silent for too long");
        return;
      }
      if (this.#isReady) this.#failures = 0;
      if (silentMs >= PING_AFTER_MS && this.#isOpen) {
        this.#isPinged = true;
        this.send(this.#handlers.ping());
      }
      this.#look(sinceMs);
    });
  }
  #ended(code, reason) {
    if (this.#socket === null) return;
    const { renewable } = this.#handlers;
    const why = this.#clean(this.#reported ?? (reason === "" ? `closed with ${code}` : reason));
    this.#forget();
    const isOver = code === ENDED_BY_SERVICE && renewable?.test(why) !== true;
    if (isOver) this.#isRunning = false;
    else this.#openLater();
    this.#handlers.ended(why);
    if (isOver) this.#handlers.failed(new StreamError("ended_by_service", why));
  }
  #openLater() {
    const bound = Math.min(WAIT_MS.max, WAIT_MS.first * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    const wasRefused = this.#refusals > (this.#handlers.renewable ? 1 : 0);
    const chance = (this.#options.random ?? Math.random)();
    const waitMs = wasRefused ? WAIT_MS.max * (1 + chance / 2) : chance * bound;
    this.#cancel = this.timers.after(waitMs, () => this.#open());
  }
  #clean(why) {
    const secret = this.#handlers.secret();
    return secret === "" ? why : why.replaceAll(secret, "***");
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
  #items = /* @__PURE__ */ new Map();
  /** Goes on over what is added meanwhile; one that begins at the front each time would pass by all that was taken. */
  #entries = this.#items.entries();
  get length() {
    return this.#items.size;
  }
  /** Puts an item in the place of the waiting one with the same key, or at the end. */
  put(item, key = {}) {
    this.#items.set(key, item);
  }
  delete(key) {
    this.#items.delete(key);
  }
  take() {
    for (const _ of [1, 2]) {
      const { value } = this.#entries.next();
      if (value !== void 0) {
        this.#items.delete(value[0]);
        return value[1];
      }
      this.#entries = this.#items.entries();
    }
    return void 0;
  }
};

// src/streams/reader.ts
var Reader = class {
  #pending = [];
  #isEnded = false;
  /** What still waits is not wanted. */
  #isStopped = false;
  #error;
  #signal;
  /** Nothing is added any more. */
  get isEnded() {
    return this.#isEnded;
  }
  /** Ends at once when the signal aborts. */
  stopWith(signal) {
    this.#signal = signal;
    signal?.addEventListener("abort", this.#stop);
    if (signal?.aborted) this.#stop();
  }
  /** What waits is still read; then it ends, with the error if there is one. */
  end(error) {
    if (!this.#isEnded) this.#error = error;
    this.#end();
  }
  next() {
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.wake();
    });
  }
  async return() {
    this.#stop();
    return { done: true, value: void 0 };
  }
  [Symbol.asyncIterator]() {
    return this;
  }
  /** There may be an item. */
  wake() {
    while (this.#pending.length > 0) {
      const item = this.#isStopped ? void 0 : this.take();
      if (item === void 0 && !this.#isEnded) return;
      const reading = this.#pending.shift();
      const error = this.#error;
      if (item !== void 0) reading?.resolve({ done: false, value: item });
      else if (error === void 0) reading?.resolve({ done: true, value: void 0 });
      else {
        this.#error = void 0;
        reading?.reject(error);
      }
    }
  }
  #stop = () => {
    this.#isStopped = true;
    this.#error = void 0;
    this.#end();
  };
  #end() {
    if (!this.#isEnded) {
      this.#isEnded = true;
      this.#signal?.removeEventListener("abort", this.#stop);
      this.ended();
    }
    this.wake();
  }
};

// src/streams/broker/follower.ts
var READ_AGAIN_MS = 5e3;
var ASK_AGAIN_MS = 1e3;
var REFUSALS_MAX2 = { resuming: 3, beginning: 5 };
var Follower = class extends Reader {
  health = /* @__PURE__ */ new Map();
  interruption = null;
  #options;
  #subscription;
  #leave;
  #queue = new Queue();
  #over = new AbortController();
  /** The last `seq` that was put into the queue; null: begin with a snapshot. */
  #seq;
  /** The id of the update with that number, if it is known. */
  #eventId = null;
  /** Why a snapshot is needed again. */
  #lost = null;
  /** The reader was given a `begin`, and has not come back yet. */
  #isBeginning = false;
  #isReplaying = false;
  #isBehind = false;
  #isReading = false;
  /** Ends the wait before the next request; null: there is none. */
  #cancelWait = null;
  /** Of the subscription that is asked for. */
  #refusals = 0;
  /** An interruption that is yet to be yielded, … */
  #unread = null;
  /** … and what was yielded last: a reason, or null for `live`. */
  #read;
  /** @param leave called once, when nothing is wanted any more */
  constructor(options, subscription, leave) {
    super();
    this.#options = options;
    this.#subscription = subscription;
    this.#seq = options.after;
    this.#leave = leave;
  }
  get isLive() {
    const isWaited = this.#queue.length > 0 || this.#isBeginning || this.#isReplaying;
    return this.#subscription.isOnFor(this) && !isWaited;
  }
  /** One update is asked for again, because its id shows whether the log is still the same user's. */
  get after() {
    return this.#seq === null || this.#eventId === null ? this.#seq : this.#seq - 1;
  }
  /** Whether no updates are wanted at present. */
  get isWaiting() {
    return this.#isBehind || this.#isReading || this.#cancelWait !== null;
  }
  /** Nothing comes for now; the reader is given the reason, unless it knows it. */
  interrupted(reason) {
    for (const connectionId of this.health.keys()) this.forget(connectionId);
    this.interruption = reason;
    this.#unread = reason === this.#read ? null : reason;
    this.wake();
  }
  subscribed(seq) {
    this.interruption = null;
    this.#refusals = 0;
    this.#isReplaying = this.#seq !== null;
    if (this.#seq !== null) return;
    this.#seq = seq;
    this.#put({ type: "begin", seq, reason: this.#lost });
    this.#lost = null;
  }
  /** @throws Error if updates are missing before it, or the log ends before what came */
  caughtUp(seq) {
    if (this.#seq !== null && seq > this.#seq) this.#missing(this.#seq);
    if (this.#seq !== null && seq < this.#seq) this.#createdAgain();
    this.#isReplaying = false;
    this.wake();
  }
  /** @throws Error if a number is missing, or belongs to another user */
  update(update) {
    if (this.#seq === null) return;
    if (update.seq === this.#seq && this.#eventId !== null && update.event_id !== this.#eventId) this.#createdAgain();
    if (update.seq <= this.#seq) return;
    if (update.seq !== this.#seq + 1) this.#missing(this.#seq);
    this.#seq = update.seq;
    this.#eventId = update.event_id;
    this.#put(update);
  }
  healthIs(status) {
    this.health.set(status.connection_id, status);
    this.#put(status, status.connection_id);
  }
  forget(connectionId) {
    this.health.delete(connectionId);
    this.#queue.delete(connectionId);
  }
  deleted() {
    this.#put({ type: "deleted" });
    this.end();
  }
  /** What is not replayed is read from the log; if the log does not have it either, a snapshot is needed. */
  refused(message) {
    this.interruption = message;
    this.#eventId = null;
    this.#refusals += 1;
    const { readEvents } = this.#options;
    const isResuming = this.#seq !== null;
    if (this.#refusals === 1 && readEvents !== void 0) void this.#catchUp(readEvents, message);
    else if (this.#refusals < (isResuming ? REFUSALS_MAX2.resuming : REFUSALS_MAX2.beginning)) this.#wait(message);
    else if (isResuming) this.#begin(message);
    else this.end(new StreamError("subscription_refused", message));
  }
  receivedAgain() {
    if (this.#read === null) this.#read = void 0;
    this.wake();
  }
  ended() {
    this.#over.abort();
    this.#cancelWait?.();
    this.#leave();
  }
  /** The reader is here. */
  take() {
    this.#isBeginning = false;
    const reason = this.#unread;
    if (reason !== null && !this.isEnded) {
      this.#unread = null;
      this.#read = reason;
      return { type: "interrupted", reason };
    }
    const item = this.#queue.take();
    if (item !== void 0) {
      this.#isBeginning = item.type === "begin";
      return item;
    }
    if (this.#isBehind) {
      this.#isBehind = false;
      this.#subscription.settle();
    }
    if (!this.isLive || this.#read === null) return void 0;
    this.#read = null;
    return { type: "live", seq: this.#seq ?? 0 };
  }
  #missing(after) {
    throw new Error(`number ${after + 1} of ${this.#options.userId} is missing`);
  }
  /** The session ends, and the next one begins with a snapshot. */
  #createdAgain() {
    const why = `${this.#options.userId} was deleted and created again`;
    this.#begin(why);
    throw new Error(why);
  }
  #put(item, key) {
    this.#queue.put(item, key);
    this.wake();
    if (this.#queue.length < this.#options.waitingMax || this.isEnded || this.#isBehind) return;
    this.#isBehind = true;
    this.interrupted(`${this.#queue.length} updates wait for their reader`);
    this.#subscription.settle();
  }
  /** After a while, it is asked for again. */
  #wait(why, ms = ASK_AGAIN_MS * 2 ** (this.#refusals - 1)) {
    this.interrupted(why);
    this.#cancelWait = this.#options.timers.after(ms, () => {
      this.#cancelWait = null;
      this.#subscription.settle();
    });
  }
  #begin(why) {
    this.#seq = null;
    this.#eventId = null;
    this.#refusals = 0;
    this.#lost = why;
  }
  /** Reads what is stored, then subscribes again. Never rejects. */
  async #catchUp(readEvents, why) {
    this.#isReading = true;
    const after = this.#seq ?? Number.MAX_SAFE_INTEGER;
    let failure;
    let isGone = false;
    try {
      for await (const update of readEvents(this.#options.userId, after, this.#over.signal)) {
        if (this.#seq === null || this.isEnded) break;
        if (update.seq <= this.#seq) continue;
        isGone = update.seq !== this.#seq + 1;
        if (isGone) break;
        this.#refusals = 0;
        this.update(update);
        if (this.#isBehind) break;
      }
    } catch (error) {
      isGone = Object(error).code === "events_missing";
      if (!isGone) failure = error ?? new Error(why);
    }
    this.#isReading = false;
    if (this.isEnded) return;
    if (isFinal(failure)) this.end(failure);
    else if (isGone) this.#begin(why);
    else if (failure !== void 0) {
      this.#refusals = 0;
      this.#wait(why, READ_AGAIN_MS);
    } else if (this.#seq === null) this.#wait(why);
    this.#subscription.settle();
  }
};

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
var UserSubscription = class {
  /** The one that wants updates now; null: none does. */
  follower = null;
  #userId;
  #connection;
  #state = "off";
  /** The follower for which the present subscription was asked for. */
  #asker = null;
  constructor(userId, connection) {
    this.#userId = userId;
    this.#connection = connection;
  }
  /** Neither wanted, nor known to the session. */
  get isIdle() {
    return this.follower === null && this.#state === "off";
  }
  /** Whether the service sends updates to this follower, and was received lately. */
  isOnFor(follower) {
    return this.#connection.isReceiving && this.#state === "on" && this.#asker === follower && this.follower === follower;
  }
  /** Asks for what is wanted and not there yet, unless an answer is awaited. */
  settle() {
    const { follower } = this;
    if (!this.#connection.isReady) return;
    const wanting = follower?.isWaiting === true ? null : follower;
    if (this.#state === "on" && (wanting === null || wanting !== this.#asker)) this.#ask("leaving", "unsubscribe_user");
    else if (this.#state === "off" && wanting !== null) {
      this.#asker = wanting;
      this.#ask("asked", "subscribe_user", wanting.after === null ? {} : { after: wanting.after });
    }
  }
  /** The session has ended. */
  interrupted(reason) {
    this.#state = "off";
    this.follower?.interrupted(reason);
  }
  /** @throws Error so that the session ends and the next one goes on from what came */
  received(message) {
    const follower = this.#asker === this.follower ? this.follower : null;
    if (message.type === "user_subscribed" || message.type === "subscription_failed") {
      if (this.#state !== "asked") return;
      const isOn = message.type === "user_subscribed";
      this.#state = isOn ? "on" : "off";
      if (isOn) follower?.subscribed(numberIn(message));
      else follower?.refused(String(message.message));
      this.settle();
    } else if (message.type === "user_unsubscribed") {
      const wasOn = this.#state === "on";
      if (!wasOn && this.#state !== "leaving") return;
      this.#state = "off";
      if (wasOn) follower?.deleted();
      this.settle();
    } else if (this.#state === "on" && follower !== null) {
      if (isUpdate(message)) follower.update(message);
      else if (isHealth(message)) follower.healthIs(message);
      else if (message.type === "caught_up") follower.caughtUp(numberIn(message));
    }
  }
  #ask(state, action, more = {}) {
    this.#state = state;
    this.#connection.send({ action, user_id: this.#userId, ...more });
  }
};

// src/streams/broker/stream.ts
var USERS_MAX = 500;
var WAITING_MAX = 1e4;
var BrokerStream = class {
  #options;
  #connection;
  #users = /* @__PURE__ */ new Map();
  #followed = 0;
  constructor(options) {
    this.#options = options;
    this.#connection = new StreamConnection(options, {
      opened: () => void 0,
      received: (message, wasSilent) => {
        this.#received(message);
        if (wasSilent) for (const { follower } of this.#users.values()) follower?.receivedAgain();
      },
      ended: (reason) => {
        for (const [userId, user] of this.#users) {
          user.interrupted(reason);
          this.#forget(userId, user);
        }
      },
      failed: (error) => {
        for (const { follower } of [...this.#users.values()]) follower?.end(error);
      },
      ping: () => ({ action: "ping" }),
      secret: () => options.clientSecret
    });
  }
  /** Milliseconds since the service was last received, null before the first message. A working connection is at most about 20 s old. */
  get ageMs() {
    return this.#connection.ageMs;
  }
  /**
   * A user's updates, in order, each once, over any number of connections. Ends when the user was deleted or disabled, or
   * the signal aborts.
   * @throws StreamError, at once or from the iteration; and the error of `readEvents` that no repetition avoids, such as an unknown user
   */
  follow(userId, { after, signal } = {}) {
    const user = this.#users.get(userId) ?? new UserSubscription(userId, this.#connection);
    if (user.follower !== null) throw new StreamError("followed_already", `${userId} is followed already`);
    if (this.#followed >= USERS_MAX) throw new StreamError("too_many", `one stream follows at most ${USERS_MAX} users`);
    const { waitingMax = WAITING_MAX, readEvents } = this.#options;
    if (!/^(?!\s)[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,64}(?<!\s)$/u.test(userId) || !Number.isSafeInteger(after ?? 0) || Number(after) < 0 || !(waitingMax > 0))
      throw new StreamError("setting_invalid", "no user_id, no seq, or no waitingMax");
    const { timers } = this.#connection;
    const options = { userId, after: after ?? null, waitingMax, readEvents, timers };
    const follower = new Follower(options, user, () => this.#left(userId, user));
    user.follower = follower;
    this.#users.set(userId, user);
    this.#followed += 1;
    follower.stopWith(signal);
    if (follower.isEnded) return follower;
    this.#connection.start();
    user.settle();
    return follower;
  }
  #left(userId, user) {
    user.follower = null;
    this.#followed -= 1;
    user.settle();
    this.#forget(userId, user);
    if (this.#followed > 0) return;
    this.#users.clear();
    this.#connection.stop();
  }
  /** Until the service has answered that a user is unsubscribed, the answer is waited for. */
  #forget(userId, user) {
    if (user.isIdle) this.#users.delete(userId);
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
        for (const user of this.#users.values()) user.settle();
        break;
      default:
        this.#receivedOf(message);
    }
  }
  #receivedOf(message) {
    const { user_id: id, type } = message;
    if (id === void 0 && (type === "error" || type === "subscription_failed")) throw new Error(String(message.message));
    const userId = String(id);
    const user = this.#users.get(userId);
    if (user === void 0) return;
    user.received(message);
    this.#forget(userId, user);
  }
};

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
  /** Why no updates arrive: no connection, wrong credentials, no such user. Null while they do, and before it was tried. */
  get interruption() {
    return this.#following?.interruption ?? null;
  }
  /** Milliseconds since the service was last received; null before that. */
  get ageMs() {
    return this.#options.stream.ageMs;
  }
  /**
   * Keeps the copy until the signal aborts or the user is deleted or disabled (`deleted`), and yields each change after it was saved.
   * @throws StreamError, and what `load`, `save`, `readSnapshot` and the stream's `readEvents` throw
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
  /** Null: aborted meanwhile. */
  async #begin(seq, signal) {
    const { readSnapshot, readLastSeq } = this.#options;
    this.#put = [];
    try {
      const snapshot = await readSnapshot(signal);
      const snapshotSeq = await readLastSeq?.(signal) ?? seq;
      const records = new Records(snapshot);
      for (const order of this.#put) records.putOrder(order);
      this.#replace(records, seq, snapshotSeq);
      return { type: "begin", seq, snapshot };
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    } finally {
      this.#put = null;
    }
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
var HistoryRead = class {
  #options;
  /** Rejects with what it failed with. */
  bars;
  #resolve = () => void 0;
  end = () => void 0;
  constructor(options) {
    this.#options = options;
    this.bars = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.end = reject;
    });
  }
  request() {
    const { symbol, interval, start, end } = this.#options;
    return { action: "snapshot", data_type: "bars", symbol, interval, start_time: start, end_time: end };
  }
  put({ data }) {
    const items = Array.isArray(data) ? data.map(Object) : [{}];
    const bars2 = items.filter(isBar);
    if (bars2.length === items.length) this.#resolve(bars2.map(({ o, h, l, c, v, ts, st }) => ({ o, h, l, c, v, ts, st })));
    else this.end(new StreamError("subscription_refused", "the answer is not bars"));
  }
  accepted() {
  }
  interrupted() {
  }
};

// src/streams/market/subscription.ts
var WAITING_MAX2 = 1e5;
var ChannelSubscription = class extends Reader {
  #channel;
  #onStatus;
  #timers;
  #leave;
  #queue = new Queue();
  /** What was reported last: a reason, or null for current data. */
  #reported;
  /** When the data was current for certain; null: not yet. */
  #currentMs = null;
  /** @param leave called once, when nothing is wanted any more */
  constructor(channel, onStatus, timers, leave) {
    super();
    this.#channel = channel;
    this.#onStatus = onStatus;
    this.#timers = timers;
    this.#leave = leave;
  }
  request() {
    return this.#channel.request(this.#currentMs === null ? null : this.#timers.nowMs() - this.#currentMs);
  }
  accepted() {
    this.#current();
    this.#channel.accepted?.();
  }
  put(update) {
    this.#current();
    this.#channel.put(update, this.#queue);
    this.wake();
    if (this.#queue.length > WAITING_MAX2) this.end(new StreamError("too_slow", `${WAITING_MAX2} updates wait for their reader`));
  }
  interrupted(reason) {
    void this.#report(reason);
  }
  take() {
    return this.#queue.take();
  }
  ended() {
    this.#leave();
  }
  #current() {
    const nowMs = this.#timers.nowMs();
    if (this.#currentMs !== null && this.#reported !== null) this.#channel.resumed?.(nowMs - this.#currentMs);
    this.#currentMs = nowMs;
    void this.#report(null);
  }
  /** Never rejects: other subscriptions of the same connection must not suffer. */
  async #report(reason) {
    if (reason === this.#reported) return;
    this.#reported = reason;
    const status = reason === null ? { isLive: true } : { isLive: false, reason };
    try {
      await this.#onStatus?.(status);
    } catch {
    }
  }
};

// src/streams/market/stream.ts
var SUBSCRIPTIONS_MAX = 500;
var AGAIN_MS = 5e3;
var AUTHENTICATE = "authenticate";
var RENEWABLE = /^auth_error: .*(get a new access token|connect again)/i;
var TOKEN_HOLDS = /connect again/i;
var PASSING = /* @__PURE__ */ new Set(["broker_unavailable", "internal_error", "subscription_limit"]);
var MarketStream = class {
  #options;
  #connection;
  #subscriptions = /* @__PURE__ */ new Set();
  /** Of the present session: what has no answer yet, by `request_id`, … */
  #asked = /* @__PURE__ */ new Map();
  /** … and what has one, by `sub_id`. */
  #accepted = /* @__PURE__ */ new Map();
  /** Ends the wait of what the broker could not answer. */
  #waiting = /* @__PURE__ */ new Map();
  #requestId = 0;
  #token = null;
  constructor(options) {
    this.#options = options;
    this.#connection = new StreamConnection(options, {
      opened: () => void this.#authenticate(),
      received: (message) => this.#received(message),
      ended: (reason) => this.#ended(reason),
      failed: (error) => {
        for (const one of [...this.#subscriptions]) one.end(error);
      },
      ping: () => ({ action: "ping", request_id: this.#nextId() }),
      secret: () => this.#token ?? "",
      renewable: RENEWABLE
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
    const { signal } = options;
    signal?.throwIfAborted();
    this.#demandCapacity();
    const read = new HistoryRead(options);
    const abort = () => read.end(signal?.reason);
    this.#add(read);
    signal?.addEventListener("abort", abort);
    try {
      return await read.bars;
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#remove(read);
    }
  }
  #read(channel, { signal, onStatus }) {
    this.#demandCapacity();
    const subscription = new ChannelSubscription(channel, onStatus, this.#connection.timers, () => this.#remove(subscription));
    subscription.stopWith(signal);
    if (!subscription.isEnded) this.#add(subscription);
    return subscription;
  }
  #demandCapacity() {
    if (this.#subscriptions.size >= SUBSCRIPTIONS_MAX)
      throw new StreamError("too_many", `one stream has at most ${SUBSCRIPTIONS_MAX} subscriptions`);
  }
  #add(subscription) {
    this.#subscriptions.add(subscription);
    this.#connection.start();
    this.#ask(subscription);
  }
  #remove(subscription) {
    this.#subscriptions.delete(subscription);
    this.#waiting.get(subscription)?.();
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
    const { session } = this.#connection;
    const isPast = () => session !== this.#connection.session;
    try {
      const token = this.#token ?? await this.#options.token();
      if (isPast()) this.#token ??= token;
      else {
        this.#token = token;
        this.#connection.send({ action: "authenticate", access_token: token, request_id: AUTHENTICATE });
      }
    } catch (error) {
      if (isPast()) return;
      if (isFinal(error)) this.#connection.fail(error);
      else this.#connection.end("no access token was issued");
    }
  }
  #ended(reason) {
    this.#asked.clear();
    this.#accepted.clear();
    for (const stop of this.#waiting.values()) stop();
    for (const one of [...this.#subscriptions]) one.interrupted(reason);
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
    if (Array.isArray(subIds)) for (const subId of subIds) this.#accepted.get(String(subId))?.interrupted(why);
    else if (asked === void 0) this.#sessionFailed(code, id, why);
    else if (PASSING.has(code)) {
      asked.interrupted(why);
      this.#askLater(asked);
    } else asked.end(new StreamError("subscription_refused", why, String(code)));
  }
  #sessionFailed(code, id, why) {
    if (id === AUTHENTICATE && !PASSING.has(code)) this.#connection.refused(why);
    else if (id === AUTHENTICATE || id === null && code === "invalid_request") this.#connection.end(why);
    else if (id === null) this.#connection.reported(why);
    if (code === "auth_error" && !TOKEN_HOLDS.test(why)) this.#token = null;
  }
  #askLater(subscription) {
    const cancel = this.#connection.timers.after(AGAIN_MS, () => {
      stop();
      this.#ask(subscription);
    });
    const stop = () => {
      this.#waiting.delete(subscription);
      cancel();
    };
    this.#waiting.set(subscription, stop);
  }
  /** Asks for it, unless that was done in this session, or it has ended. */
  #ask(subscription) {
    if (!this.#connection.isReady || !this.#subscriptions.has(subscription)) return;
    for (const known of [this.#asked, this.#accepted]) for (const one of known.values()) if (one === subscription) return;
    this.#asked.set(this.#request({ action: "subscribe", ...subscription.request() }), subscription);
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
