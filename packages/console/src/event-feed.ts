// Follows the updates of a user: each request waits until there is one.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { get, isSignedOut, read } from './api.ts'
import { type EventLog, emptyLog, withPage } from './event-log.ts'
import { pause } from './pause.ts'
import { sessionQuery } from './reads.ts'

const WAIT_SECONDS = '25'
/** After a refusal, and when a wait came back at once: at its bound the service does not wait. */
const PAUSE_MS = 3_000
const SHORT_MS = 1_000

export interface EventFeed {
  readonly log: EventLog
  /** Of the last request; null after one that succeeded. It is tried again. */
  readonly error: Error | null
}

/** Reads from `after` on while `isLive`; paused it keeps what it has, and goes on from there. Give the component a key of both. */
export function useEventFeed(user: string, after: number, isLive: boolean): EventFeed {
  const [log, setLog] = useState(() => emptyLog(after))
  // Where a feed that goes on begins: it is no reason to begin again.
  const latest = useRef(log)
  const queries = useQueryClient()
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => {
    if (!isLive) return
    const stop = new AbortController()
    const follow = async () => {
      while (!stop.signal.aborted) {
        const began = performance.now()
        try {
          const page = await read(get('/events', {}, { user, after: String(latest.current.after), wait: WAIT_SECONDS }), stop.signal)
          latest.current = withPage(latest.current, page)
          setLog(latest.current)
          setError(null)
          if (page.data.length === 0 && performance.now() - began < SHORT_MS) await pause(PAUSE_MS, stop.signal)
        } catch (cause) {
          if (stop.signal.aborted) return
          setError(cause instanceof Error ? cause : new Error(String(cause)))
          if (isSignedOut(cause)) await queries.resetQueries({ queryKey: sessionQuery.queryKey })
          await pause(PAUSE_MS, stop.signal)
        }
      }
    }
    void follow()
    return () => stop.abort()
  }, [user, isLive, queries])
  return { log, error }
}
