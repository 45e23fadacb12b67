// Orders of unknown outcome: ending those that the broker never received, and those that nobody can look up any more.
import type { ReactNode } from 'react'
import { change, get } from '../api.ts'
import { counted } from '../format.ts'
import type { AbandonedOrder, OperatorOrder as Order, OrdersEnded, OrdersNeverReceived } from '../generated/admin.ts'
import { useList } from '../reads.ts'
import { Action, TextInput, textIn } from './action.tsx'
import { CopyText } from './copy.tsx'
import { Facts } from './facts.tsx'
import { Empty } from './states.tsx'
import { type Column, ListTable } from './table.tsx'
import { Time, Value } from './values.tsx'

/** Whether an operator may end the order: it is open, and the broker has not said that it has it. */
export function isUnresolved({ normalized_status: status, submission: { state } }: Order): boolean {
  return ['pending', 'pending_cancel', 'pending_replace'].includes(status) && ['unknown', 'submitting'].includes(state)
}

function Reasons(): ReactNode {
  return (
    <>
      <TextInput name="because" label="How you know" hint="Written to the audit log." max={200} isRequired />
      <label>
        <input type="checkbox" name="unseen" value="yes" /> Do not ask the broker: it does not answer, and I have checked its records
      </label>
    </>
  )
}

function reasonsIn(form: FormData) {
  return { because: textIn(form, 'because'), unseen: form.get('unseen') === 'yes' }
}

/** Ends one order. */
export function EndOrder({ order }: { readonly order: Order }): ReactNode {
  const { order_id, cl_order_id: name, broker } = order
  return (
    <div className="buttons actions">
      <Action
        label="End as never received"
        title={`End ${name} as never received`}
        effect={`Check the account at ${broker} first: the order is then rejected for good, and its owner gets the update.`}
        fields={<Reasons />}
        request={form => change('POST /orders/{order_id}/never-received', { order_id }, reasonsIn(form))}
        done={({ normalized_status: status }) => (
          <p>
            {name} is {status}. Its owner gets the update.
          </p>
        )}
      />
    </div>
  )
}

/** Lists the orders of a set first, and ends exactly these. */
export function EndSet(): ReactNode {
  return (
    <div className="buttons actions">
      <Action
        label="End several as never received"
        confirm="List these orders"
        title="End several orders as never received"
        effect="Nothing is ended yet: the brokers are asked, and you are shown which orders would be ended. At least one of the three filters is needed."
        fields={
          <>
            <TextInput name="broker" label="Broker" hint="Such as TRADESTATION" />
            <TextInput name="connection" label="Connection (connection_id)" />
            <TextInput name="hours" label="Older than, in hours" type="number" min={1} max={9999} />
            <Reasons />
          </>
        }
        request={form => change('POST /unresolved-orders/never-received', {}, wantedIn(form))}
        done={(trial, form) => <Trial trial={trial} body={{ ...wantedIn(form), set: trial.set }} />}
      />
    </div>
  )
}

function wantedIn(form: FormData): OrdersNeverReceived {
  const [broker, connection, hours] = ['broker', 'connection', 'hours'].map(name => textIn(form, name))
  return {
    ...(broker && { broker }),
    ...(connection && { connection_id: connection }),
    ...(hours && { older_than_hours: Number(hours) }),
    ...reasonsIn(form)
  }
}

interface TrialProps {
  readonly trial: OrdersEnded
  /** The same request, with the name of the set that is shown. */
  readonly body: OrdersNeverReceived
}

/** What would be ended, and the button that ends exactly that. */
function Trial({ trial: { fitting, orders, kept }, body }: TrialProps): ReactNode {
  return (
    <>
      <p>
        {counted(orders.length)} of {counted(fitting)} orders would be ended. Nothing is ended yet.
      </p>
      <OrderNames orders={orders} />
      <Kept kept={kept} />
      {orders.length > 0 && (
        <Action
          label={`End these ${counted(orders.length)}`}
          title={`End ${counted(orders.length)} orders as never received`}
          effect="Exactly these orders are rejected for good, and their owners get the updates; if the set has changed since, none is."
          request={() => change('POST /unresolved-orders/never-received', {}, body)}
          done={ended => (
            <>
              <p>
                {counted(ended.orders.length)} of {counted(ended.fitting)} orders were ended. Their owners get the updates.
              </p>
              <OrderNames orders={ended.orders} />
              <Kept kept={ended.kept} />
            </>
          )}
        />
      )}
    </>
  )
}

function OrderNames({ orders }: Pick<OrdersEnded, 'orders'>): ReactNode {
  return (
    <ul>
      {orders.map(({ order_id: id, cl_order_id: name, user_id: user, side, symbol, order_qty: quantity }) => (
        <li key={id}>
          <code>{name}</code> of {user}: {side} <Value value={quantity} /> <Value value={symbol} nullMeans="several legs" />
        </li>
      ))}
    </ul>
  )
}

function Kept({ kept }: Pick<OrdersEnded, 'kept'>): ReactNode {
  if (kept.length === 0) return null
  return (
    <>
      <p>Kept:</p>
      <ul>
        {kept.map(({ order_id: id, why }) => (
          <li key={id}>{why}</li>
        ))}
      </ul>
    </>
  )
}

const ABANDONED: readonly Column<AbandonedOrder>[] = [
  { name: 'Order', cell: order => <CopyText text={order.order_id} what="order id" /> },
  { name: 'Removed', cell: order => <Time at={order.removed_at} /> },
  {
    name: 'What is known',
    cell: ({ detail }) => (
      <details>
        <summary>{Object.keys(detail).length}</summary>
        <Facts facts={Object.entries(detail).map(([name, value]) => [name, <Value key={name} value={value} nullMeans="none" />])} />
      </details>
    )
  }
]

/** Their connections were removed first. */
export function AbandonedOrders(): ReactNode {
  return (
    <section aria-labelledby="abandoned">
      <h2 id="abandoned">Abandoned</h2>
      <p className="hint">
        Of the last 30 days: the connection was removed before the broker reported the outcome. Look for each in the account at the broker,
        and inform its owner.
      </p>
      <ListTable
        what="abandoned orders"
        list={useList(get('/abandoned-orders', {}))}
        columns={ABANDONED}
        idOf={order => order.order_id}
        empty={
          <Empty>
            <p>No order was abandoned.</p>
          </Empty>
        }
      />
    </section>
  )
}
