// Sending a change, and what became of it. An answer that was lost is an outcome of its own: nothing is offered again before it was read.
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { type ChangeRequest, carryOut, isOutcomeUnknown, isSignedOut } from '../api.ts'
import { sessionQuery } from '../reads.ts'
import { Failure } from './states.tsx'

/** What became of a change. */
export type Outcome<Answer, Given> =
  | { readonly kind: 'none' }
  | { readonly kind: 'pending' }
  | { readonly kind: 'done'; readonly answer: Answer; readonly given: Given }
  | { readonly kind: 'refused'; readonly error: Error }
  /** It may have been made. */
  | { readonly kind: 'unknown'; readonly error: Error }

export interface SentChange<Answer, Given> {
  readonly outcome: Outcome<Answer, Given>
  /** False while a change is under way, and while the outcome of one is unknown: nothing is sent then. */
  readonly maySend: boolean
  readonly send: (given: Given) => void
  /** Reads the page again. What is unknown stays so. */
  readonly readAgain: () => void
  /** Reads the page again. If all of it could be read, what was unknown counts as looked up, and another change may be sent. */
  readonly lookUp: () => void
}

/** Sends changes one at a time, each once. Whatever became of one, the page is read again. */
export function useSentChange<Answer, Given>(requestOf: (given: Given) => ChangeRequest<Answer>): SentChange<Answer, Given> {
  const queries = useQueryClient()
  // Two presses may come before the page shows that the first was sent.
  const isTaken = useRef(false)
  const sent = useMutation({
    mutationFn: (given: Given) => carryOut(requestOf(given)),
    // Else it would wait for the network, and be sent when nobody expects it any more.
    networkMode: 'always',
    onSettled: () => void readPage(queries),
    onSuccess: () => {
      isTaken.current = false
    },
    onError: error => {
      if (isSignedOut(error)) void queries.resetQueries({ queryKey: sessionQuery.queryKey })
      isTaken.current = isOutcomeUnknown(error)
    }
  })
  const { error } = sent
  const isUnknown = error !== null && isOutcomeUnknown(error)
  return {
    outcome: sent.isPending
      ? { kind: 'pending' }
      : sent.isSuccess
        ? { kind: 'done', answer: sent.data, given: sent.variables }
        : error === null
          ? { kind: 'none' }
          : { kind: isUnknown ? 'unknown' : 'refused', error },
    maySend: !sent.isPending && !isUnknown,
    send: given => {
      if (isTaken.current) return
      isTaken.current = true
      sent.mutate(given)
    },
    readAgain: () => void readPage(queries),
    lookUp: () =>
      void readPage(queries).then(isRead => {
        if (!isRead || !isUnknown) return
        isTaken.current = false
        sent.reset()
      })
  }
}

const OF_PAGE = { type: 'active', predicate: ({ queryKey }: { readonly queryKey: readonly unknown[] }) => !isOfSession(queryKey) } as const

function isOfSession(queryKey: readonly unknown[]): boolean {
  return queryKey[0] === sessionQuery.queryKey[0]
}

/** Whether everything that the page shows could be read again. What was refused before is shown as refused. */
async function readPage(queries: QueryClient): Promise<boolean> {
  await queries.invalidateQueries({ predicate: OF_PAGE.predicate })
  const shown = queries.getQueryCache().findAll(OF_PAGE)
  return shown.every(({ state }) => state.data === undefined || (state.status === 'success' && !state.isInvalidated))
}

interface UnsuccessfulProps {
  readonly outcome: Outcome<unknown, unknown>
  readonly readAgain: () => void
}

/** Says of a change that it was refused, or that its answer was lost. */
export function Unsuccessful({ outcome, readAgain }: UnsuccessfulProps): ReactNode {
  if (outcome.kind === 'refused') return <Failure error={outcome.error} />
  if (outcome.kind !== 'unknown') return null
  return (
    <div className="failure" role="alert">
      <p>
        <strong>Unknown: it may have been done, or not.</strong> {outcome.error.message}
      </p>
      <p>Read again before you repeat it.</p>
      <Button className="button" onPress={readAgain}>
        Read again
      </Button>
    </div>
  )
}
