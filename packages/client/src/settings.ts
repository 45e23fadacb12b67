import { addressOf } from './address.ts'
import { TrunklineError } from './errors.ts'
import type { Meta } from './meta.ts'

/** How a client reaches the service. */
export interface TrunklineOptions {
  /** Such as `https://trunkline.example.com`. Plain http only to this machine, unless `allowHttp`. */
  readonly baseUrl: string
  readonly clientId: string
  readonly clientSecret: string
  /** Sends credentials unencrypted to another machine. */
  readonly allowHttp?: boolean | undefined
  /** Sends a request once: a fetch that repeats by itself must not, because what it met before it failed cannot be seen. */
  readonly fetch?: typeof fetch | undefined
  /** For one attempt, 30 seconds by default: the service cancels many orders for up to twenty. */
  readonly timeoutMs?: number | undefined
  /** For a whole call with its attempts and waits, 90 seconds by default. */
  readonly totalTimeoutMs?: number | undefined
  /** Further attempts after the first, 3 by default. */
  readonly retries?: number | undefined
  readonly hooks?: Hooks | undefined
  /** Milliseconds since the epoch. For tests, like the two that follow. */
  readonly now?: (() => number) | undefined
  /** A number in [0, 1). */
  readonly random?: (() => number) | undefined
  /** Resolves after that time, and at once when the signal aborts. */
  readonly sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined
}

/** The user for whom a request is made. */
export interface UserCredentials {
  readonly userId: string
  readonly userSecret: string
}

/** What a call may be given besides its parameters. */
export interface CallOptions {
  /** Ends the call at once, in whatever it waits. */
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly totalTimeoutMs?: number | undefined
  readonly retries?: number | undefined
  /** At most 60 of A–Z a–z 0–9 . _ : - ; by default a new one. Each attempt adds its number. */
  readonly requestId?: string | undefined
}

/** Time and chance, for whatever waits. */
export interface Clock {
  readonly now: () => number
  readonly random: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** The service's clock minus ours, by its last answer; 0 before the first. Exact to a second. */
  skewMs: number
}

/** One attempt of a call, without its credentials and body. */
export interface RequestNotice {
  readonly method: string
  /** With its parameters and its query. */
  readonly path: string
  readonly requestId: string
  /** From 1. */
  readonly attempt: number
}

/** Functions that see every request. What they throw is ignored. */
export interface Hooks {
  readonly onRequest?: ((request: RequestNotice) => unknown) | undefined
  /** Also for refusals of the service. Not called when there was no whole answer. */
  readonly onResponse?: ((response: RequestNotice & { readonly meta: Meta; readonly ms: number }) => unknown) | undefined
  /** Before the wait for another attempt. */
  readonly onRetry?: ((retry: { readonly attempt: number; readonly waitMs: number; readonly error: TrunklineError }) => unknown) | undefined
}

/** Calls a hook, which cannot break the call. */
export async function notify<T>(hook: ((notice: T) => unknown) | undefined, notice: T): Promise<void> {
  try {
    await hook?.(notice)
  } catch {
    // The call goes on: a hook only watches.
  }
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer)
      forget()
      resolve()
    }
    const timer = setTimeout(done, ms)
    const forget = onAbort(signal, done)
    if (signal.aborted) done()
  })
}

/** Runs it when the signal aborts, unless the returned function was called before. */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  signal.addEventListener('abort', run)
  return () => signal.removeEventListener('abort', run)
}

/** The address without a slash at its end. @throws TrunklineError setting_invalid */
export function checkedBase({ baseUrl, allowHttp }: TrunklineOptions): string {
  const url = addressOf(baseUrl, 'http', allowHttp)
  if (typeof url === 'string')
    throw invalid(`baseUrl must be https://…, or http:// of this machine, and was ${url}: allowHttp permits http://`)
  const { href } = url
  // Never quoted: it may hold a password.
  if (/[@?#]/.test(href)) throw invalid('baseUrl must be an address without credentials, query and fragment: remove what has @, ? or #')
  return href.replace(/\/+$/, '')
}

/** The credentials as headers. @throws TrunklineError setting_invalid, which names the header and not its value */
export function headersOf({ clientId, clientSecret }: TrunklineOptions, user: UserCredentials | null): Readonly<Record<string, string>> {
  const headers = {
    'client-id': clientId,
    'client-secret': clientSecret,
    // Headers are bytes, and the service reads this one as UTF-8.
    ...(user && { 'user-id': String.fromCharCode(...new TextEncoder().encode(user.userId)), 'user-secret': user.userSecret })
  }
  for (const [name, value] of Object.entries(headers)) {
    // The runtime's own complaint about a header would quote it.
    if (!/^[ -~\x80-\xff]+$/.test(value ?? ''))
      throw invalid(`${name} must be as the service issued it, and ${value ? 'has another character' : 'is missing'}`)
  }
  return headers
}

export function invalid(message: string): TrunklineError {
  return new TrunklineError('setting_invalid', message, { nothingDone: true })
}

/** 128 random bits. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => (byte + 256).toString(16).slice(1)).join('')
}
