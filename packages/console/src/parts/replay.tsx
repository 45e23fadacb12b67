// The replay of an order in the sandbox: the button that makes one, and the links between the two orders, with both waterfalls.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { API, fieldsOf, get, Refusal, send } from '../api.ts'
import type { OperatorOrder, OrderStep } from '../generated/admin.ts'
import { sessionQuery, useRecord } from '../reads.ts'
import { Failure, Reading } from './states.tsx'
import { StepsWaterfall } from './waterfall.tsx'

const REASON = 'why-no-replay'
const SANDBOX = get('/sandbox', {})

/** Leads to the new order. Where it is disabled, the reason stands beside it. */
export function Replay({ order }: { readonly order: OperatorOrder }): ReactNode {
  const session = useQuery(sessionQuery)
  const mayControl = session.data?.scopes.includes('sandbox') === true
  return (
    <div className="replay">
      {mayControl ? (
        <OwnSandboxReplay key={order.order_id} orderId={order.order_id} />
      ) : (
        <Disabled>
          It needs the scope <code>sandbox</code>, which this session does not have.
        </Disabled>
      )}
    </div>
  )
}

function OwnSandboxReplay({ orderId }: { readonly orderId: string }): ReactNode {
  const sandbox = useRecord(SANDBOX)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const replay = useMutation({
    mutationFn: () => send({ method: 'POST', path: `${API}/orders/${encodeURIComponent(orderId)}/replay` }),
    // Of a lost answer too: a step of the original names the new order.
    onSettled: () => queries.invalidateQueries({ queryKey: ['record'] }),
    onSuccess: answer => {
      const id = fieldsOf(fieldsOf(answer).order).order_id
      if (typeof id === 'string') void navigate({ to: '/orders/$orderId', params: { orderId: id } })
    }
  })
  if (sandbox.error !== null) return <Disabled>{sandbox.error.message}</Disabled>
  const isUnknown = replay.error instanceof Refusal && replay.error.status === 0
  return (
    <>
      <Button className="button" isDisabled={replay.isPending || sandbox.data === undefined || isUnknown} onPress={() => replay.mutate()}>
        Replay in the sandbox
      </Button>
      <span className="hint" role="status">
        {replay.isPending ? 'The order is placed in a practice account. This takes ten seconds at most.' : ''}
      </span>
      {replay.error !== null && (
        <Failure
          error={replay.error}
          advice={isUnknown ? 'It may have been placed. Read the steps again: the new order is named there.' : undefined}
        />
      )}
    </>
  )
}

function Disabled({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <>
      <Button className="button" isDisabled aria-describedby={REASON}>
        Replay in the sandbox
      </Button>
      <span id={REASON} className="hint">
        {children}
      </span>
    </>
  )
}

/** The other orders that the entries about replays name. */
export function ReplayLinks({ entries }: { readonly entries: readonly OrderStep[] }): ReactNode {
  const replays = entries.flatMap(entry => textsOf(entry, 'order.replayed', 'detail_replay_order_id'))
  const [original] = entries.flatMap(entry => textsOf(entry, 'order.replay_of', 'detail_original_order_id'))
  const [notRepeated] = entries.flatMap(entry => textsOf(entry, 'order.replay_of', 'detail_not_repeated'))
  return (
    <>
      {replays.length > 0 && (
        <p>
          Replayed in the sandbox:{' '}
          {replays.map(id => (
            <OrderLink key={id} id={id} />
          ))}
        </p>
      )}
      {original !== undefined && (
        <div className="notice">
          <p>
            A replay in the sandbox of order <OrderLink id={original} />
          </p>
          {notRepeated !== undefined && notRepeated !== '' && <p>Not repeated: {notRepeated}</p>}
          <details>
            <summary>Steps of the original</summary>
            <OriginalSteps orderId={original} />
          </details>
        </div>
      )}
    </>
  )
}

function OriginalSteps({ orderId }: { readonly orderId: string }): ReactNode {
  const steps = useRecord(get('/orders/{order_id}/steps', { order_id: orderId }))
  if (steps.error !== null) return <Failure error={steps.error} again={() => void steps.refetch()} />
  return steps.data === undefined ? <Reading what="the steps of the original" /> : <StepsWaterfall steps={steps.data.data} />
}

function OrderLink({ id }: { readonly id: string }): ReactNode {
  return (
    <Link to="/orders/$orderId" params={{ orderId: id }}>
      <code>{id}</code>{' '}
    </Link>
  )
}

/** The text of a detail, in the entries of one action. */
function textsOf(entry: OrderStep, action: string, name: string): readonly string[] {
  const facts = fieldsOf(entry)
  const value = facts[name]
  return facts.action === action && typeof value === 'string' ? [value] : []
}
