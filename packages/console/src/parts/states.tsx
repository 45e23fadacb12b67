// The states that every page has: reading, nothing there, refused.
import type { ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { Refusal } from '../api.ts'
import { CopyText } from './copy.tsx'

/** Announced once; a list that is read again keeps its rows instead. */
export function Reading({ what }: { readonly what: string }): ReactNode {
  return (
    <p className="state" role="status">
      Reading {what}…
    </p>
  )
}

/** Says why there may be nothing, and what to do. */
export function Empty({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div className="state" role="status">
      {children}
    </div>
  )
}

interface FailureProps {
  readonly error: Error
  readonly again?: (() => void) | undefined
  /** Where the page knows better than the status what to do. */
  readonly advice?: string | undefined
}

/** A refused or unanswered request: what to do, its code and its request id. */
export function Failure({ error, again, advice }: FailureProps): ReactNode {
  const refusal = error instanceof Refusal ? error : null
  return (
    <div className="failure" role="alert">
      <p>
        <strong>{error.message}</strong>
      </p>
      <dl className="facts">
        <dt>Code</dt>
        <dd>{refusal === null ? 'console_fault' : <CodeLink refusal={refusal} />}</dd>
        <dt>What to do</dt>
        <dd>{advice ?? adviceFor(refusal)}</dd>
        {refusal?.requestId != null && (
          <>
            <dt>Request</dt>
            <dd>
              <CopyText text={refusal.requestId} what="request id" />
            </dd>
          </>
        )}
      </dl>
      {again !== undefined && (
        <Button className="button" onPress={again}>
          Try again
        </Button>
      )}
    </div>
  )
}

function CodeLink({ refusal }: { readonly refusal: Refusal }): ReactNode {
  const isOwn = refusal.status === 0 || refusal.code === 'answer_unreadable' || refusal.code.startsWith('status_')
  return isOwn ? <code>{refusal.code}</code> : <a href={`/docs/errors/${encodeURIComponent(refusal.code)}`}>{refusal.code}</a>
}

function adviceFor(refusal: Refusal | null): string {
  if (refusal === null) return 'Reload the page. If it happens again, report the message with the version of the service.'
  const wait = refusal.retryAfterSeconds === null ? 'a moment' : `${refusal.retryAfterSeconds} s`
  if (refusal.status === 0) return 'Check that the service runs: it answers at /readyz.'
  if (refusal.code === 'scope_missing')
    return 'Your session lacks the scope that this needs. Ask for a link with it: cli operator link --scope …'
  if (refusal.status === 404) return 'Check the id. A record may have been deleted, or be older than what is kept.'
  if (refusal.status === 429) return `Wait ${wait}, then try again.`
  if (refusal.status >= 500) return `Wait ${wait}, then try again. The service’s log has the request id.`
  return 'Change what the message names. The page of the code explains it.'
}
