/** What is needed of a WebSocket: browsers, Bun, Deno and Node.js 22 have it; for Node.js 20, pass the one of the package `ws`. */
export interface SocketLike {
    send(text: string): void;
    close(code?: number, reason?: string): void;
    addEventListener(type: 'message', listener: (event: {
        readonly data: unknown;
    }) => void): void;
    addEventListener(type: 'close', listener: (event: {
        readonly code: number;
        readonly reason: string;
    }) => void): void;
    addEventListener(type: 'open' | 'error', listener: () => void): void;
}
export type SocketConstructor = new (url: string) => SocketLike;
/** A message of the service, of which only the form is known. */
export type Incoming = Readonly<Record<string, unknown>>;
export interface Timers {
    /** Milliseconds that never run backwards. */
    nowMs(): number;
    /** Calls once after the time, unless the returned function was called before. */
    after(ms: number, run: () => void): () => void;
}
export interface ConnectionOptions {
    readonly url: string;
    /** Sends credentials unencrypted to another machine, with a `url` that begins with `ws:`. */
    readonly allowHttp?: boolean;
    readonly socket?: SocketConstructor;
    readonly timers?: Timers;
    readonly random?: () => number;
    /** Asks by HTTP what is at an address at which no WebSocket can be opened. */
    readonly fetch?: typeof fetch;
}
export interface ConnectionHandlers {
    /** Messages can be sent; authenticate. */
    opened(): void;
    /**
     * What it throws ends the connection, with its message as the reason.
     * @param wasSilent before it, {@link StreamConnection.isReceiving} was false
     */
    received(message: Incoming, wasSilent: boolean): void;
    /** The connection is gone, or there was none; another one follows after a while. */
    ended(reason: string): void;
    /** None follows: a person has to act first. */
    failed(error: unknown): void;
    ping(): object;
    /** What was sent as credentials, which no reason may repeat; empty before that. */
    secret(): string;
    /** Reasons of the service after which new credentials may do. Without it, the same ones are sent each time. */
    readonly renewable?: RegExp;
}
/** A WebSocket that is opened again whenever it ends, after a random wait that grows while nothing works. */
export interface StreamConnection {
    readonly timers: Timers;
    /** Another one for each connection, so that what was begun in one is not sent in the next. */
    readonly session: object | null;
    /** Authenticated: requests can be sent. */
    readonly isReady: boolean;
    /** Milliseconds since the service was last received; null before the first message. */
    readonly ageMs: number | null;
    /** A machine that slept, or a link that is dead, has a socket that is open all the same: until it is given up, this tells. */
    readonly isReceiving: boolean;
    start(): void;
    /** The handlers are not called any more. */
    stop(): void;
    send(message: object): void;
    /** The service took the credentials. */
    ready(): void;
    /** Keeps what the service reported, as the reason if a close follows. */
    reported(why: string): void;
    /** The service did not take the credentials. That may pass, so it is tried again, but only twice. */
    refused(why: string): void;
    end(reason: string): void;
    fail(error: unknown): void;
    /** Calls after the random wait that follows so many failures in a row, unless the returned function was called before. */
    later(failures: number, run: () => void): () => void;
}
/** @throws StreamError setting_invalid */
export declare function streamConnection(options: ConnectionOptions, handlers: ConnectionHandlers): StreamConnection;
