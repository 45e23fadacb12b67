// The replay of an order in the sandbox: the button that makes one, and the links between the two orders, with both waterfalls.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { change, fieldsOf, get } from '../api.ts'
import type { OperatorOrder, OrderReplay, OrderStep } from '../generated/admin.ts'
import { useRecord } from '../reads.ts'
import { Action } from './action.tsx'
import { useMay } from './scopes.tsx'
import { Failure, Reading } from './states.tsx'
import { StepsWaterfall } from './waterfall.tsx'

const REASON = 'why-no-replay'
const SANDBOX = get('/sandbox', {})

/** Asks once, and leads to the new order. Where it is disabled, the reason stands beside it. */
export function Replay({ order }: { readonly order: OperatorOrder }): ReactNode {
  const mayControl = useMay('sandbox')
  return (
    <div className="replay">
      {mayControl ? (
        <OwnSandboxReplay key={order.order_id} order={order} />
      ) : (
        <Disabled>
          It needs the scope <code>sandbox</code>, which this session does not have.
        </Disabled>
      )}
    </div>
  )
}

function OwnSandboxReplay({ order: { order_id: orderId, cl_order_id: name } }: { readonly order: OperatorOrder }): ReactNode {
  const sandbox = useRecord(SANDBOX)
  if (sandbox.error !== null) return <Disabled>{sandbox.error.message}</Disabled>
  return (
    <Action
      scope="sandbox"
      label="Replay in the sandbox"
      confirm="Replay it"
      title={`Replay ${name} in the sandbox`}
      effect="The order is placed again, in a practice account. Prices of the whole sandbox pause meanwhile, ten seconds at most, for everybody who practises there."
      request={() => change('POST /orders/{order_id}/replay', { order_id: orderId }, undefined)}
      done={replay => <Replayed replay={replay} />}
    />
  )
}

function Replayed({ replay: { order, not_repeated: notRepeated } }: { readonly replay: OrderReplay }): ReactNode {
  return (
    <>
      <p>
        The new order is {order.normalized_status}:{' '}
        <Link to="/orders/$orderId" params={{ orderId: order.order_id }}>
          Show the new order
        </Link>
      </p>
      {notRepeated.length > 0 && <p>Not repeated:</p>}
      <ul>
        {notRepeated.map(({ part, why }) => (
          <li key={`${part} ${why}`}>{why}</li>
        ))}
      </ul>
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
