import { TrunklineError } from './errors.ts'
import { onAbort, pause } from './settings.ts'

/** Longer answers are refused: the longest page of the service is far below. */
const ANSWER_BYTES_MAX = 2 ** 25

/** The whole answer to a request. */
export type RawAnswer = readonly [status: number, headers: Headers, text: string]

/** Makes the errors of a request. */
export type Fail = (code: string, message: string, known?: Partial<TrunklineError>) => TrunklineError

/**
 * Sends a request once, and reads its answer to the end.
 * @throws TrunklineError connection_failed, timed_out, aborted, answer_unreadable
 */
export async function request(
  send: typeof fetch,
  url: string,
  init: RequestInit,
  timeoutMs: number,
  signal: AbortSignal,
  fail: Fail
): Promise<RawAnswer> {
  if (signal.aborted) throw fail('aborted', ABORTED, { nothingDone: true })
  const over = new AbortController()
  const end = () => over.abort()
  const forget = onAbort(signal, end)
  const answered = async () =>
    wholeOf(await send(url, { ...init, redirect: 'manual', credentials: 'omit', cache: 'no-store', signal: over.signal }), fail)
  try {
    // Not every fetch heeds its signal.
    const raw = await Promise.race([answered(), pause(timeoutMs, over.signal)])
    if (raw) return raw
    throw fail('timed_out', `No whole answer within ${timeoutMs} ms.`)
  } catch (cause) {
    if (signal.aborted) throw fail('aborted', ABORTED)
    if (cause instanceof TrunklineError) throw cause
    // Nothing is kept of the cause but a code such as ECONNREFUSED: a fetch is free to quote headers in it.
    const { code, cause: inner } = Object(cause)
    const reason = [code, Object(inner).code].find(each => /^[A-Z_0-9]+$/.test(each)) ?? 'unknown'
    const nothingDone = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/.test(reason)
    throw fail('connection_failed', `No connection with ${new URL(url).host}: ${reason}.`, { nothingDone })
  } finally {
    // The caller's signal may live as long as the program: nothing of the request stays with it.
    forget()
    end()
  }
}

export const ABORTED = 'The call was aborted.'

async function wholeOf({ status, headers, body }: Response, fail: Fail): Promise<RawAnswer> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; ; ) {
    const { value } = (await reader?.read()) ?? {}
    if (!value) return [status, headers, text]
    bytes += value.length
    if (bytes > ANSWER_BYTES_MAX) {
      void reader?.cancel().catch(() => undefined)
      throw fail('answer_unreadable', `The answer is longer than ${ANSWER_BYTES_MAX} bytes: ask for less.`, { status })
    }
    text += decoder.decode(value, { stream: true })
  }
}
