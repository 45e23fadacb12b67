// Single orders as the sandbox has them, and how often each of its operations was asked for.
import { type FormEvent, type ReactNode, useState } from 'react'
import { change, get } from '../api.ts'
import { counted } from '../format.ts'
import type { SandboxCounters, SandboxOrder } from '../generated/admin.ts'
import { useRecord } from '../reads.ts'
import { Action, TextInput, textIn } from './action.tsx'
import { CopyText } from './copy.tsx'
import { ChangeButton, Changed, SandboxPart, useSandboxChange } from './sandbox-change.tsx'
import { Failure, Reading } from './states.tsx'
import { type Column, ScrolledRows } from './table.tsx'
import { Missing, Value } from './values.tsx'

interface PartProps {
  readonly refreshMs: number | undefined
}

/** The part of the page about one order. */
export function SandboxOrders({ refreshMs }: PartProps): ReactNode {
  const [clientOrderId, setClientOrderId] = useState('')
  const find = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setClientOrderId(textIn(new FormData(event.currentTarget), 'client_order_id'))
  }
  return (
    <section aria-labelledby="sandbox-orders">
      <h2 id="sandbox-orders">An order</h2>
      <form className="filters" onSubmit={find}>
        <TextInput name="client_order_id" label="Id that the broker was sent (broker_cl_ord_id)" max={64} isRequired />
        <button className="button" type="submit">
          Find the order
        </button>
      </form>
      {clientOrderId !== '' && <Found clientOrderId={clientOrderId} refreshMs={refreshMs} />}
    </section>
  )
}

function Found({ clientOrderId, refreshMs }: PartProps & { readonly clientOrderId: string }): ReactNode {
  const { data, error, refetch } = useRecord(get('/sandbox/orders', {}, { client_order_id: clientOrderId }), refreshMs)
  if (error !== null) return <Failure error={error} again={() => void refetch()} />
  if (data === undefined) return <Reading what="the order" />
  return (
    <>
      <p>
        Requests with this id: {counted(data.received)}. Orders recorded, refused ones included: {counted(data.accepted)}.
      </p>
      {data.data.length > 0 && <ScrolledRows what="orders" rows={data.data} columns={ORDER_COLUMNS} idOf={({ id }) => id} />}
    </>
  )
}

function presentState({ state, filled, remaining }: SandboxOrder): ReactNode {
  return <p>{`The order is ${state}: filled ${filled}, remaining ${remaining}.`}</p>
}

const ORDER_COLUMNS: readonly Column<SandboxOrder>[] = [
  { name: 'Order', cell: ({ id }) => <CopyText text={id} what="order id" /> },
  { name: 'Symbol', cell: ({ symbol }) => <Value value={symbol} nullMeans="several legs" /> },
  { name: 'Direction', cell: ({ direction }) => direction },
  { name: 'State', cell: ({ state }) => state },
  { name: 'Quantity', isNumber: true, cell: ({ quantity }) => <Value value={quantity} nullMeans="none" /> },
  { name: 'Filled', isNumber: true, cell: ({ filled }) => filled },
  { name: 'Remaining', isNumber: true, cell: ({ remaining }) => remaining },
  {
    name: 'Change',
    cell: ({ id, remaining }) => (
      <div className="buttons">
        <Action
          scope="sandbox"
          label="Fill"
          name={`Fill ${id}`}
          title="Fill the order"
          effect="This quantity fills now, at the order’s own limit, whatever the prices are."
          fields={<TextInput name="quantity" label="Quantity" value={remaining} isRequired />}
          request={form =>
            change('POST /sandbox/orders/{broker_order_id}/fill', { broker_order_id: id }, { quantity: textIn(form, 'quantity') })
          }
          done={presentState}
        />
        <Action
          scope="sandbox"
          label="Cancel"
          name={`Cancel ${id}`}
          confirm="Cancel the order"
          title="Cancel the order from the sandbox’s side"
          effect="It is cancelled as if the broker had done so by itself: nobody here has asked for it."
          request={() => change('POST /sandbox/orders/{broker_order_id}/cancel', { broker_order_id: id }, undefined)}
          done={presentState}
        />
        <Action
          scope="sandbox"
          label="Show"
          name={`Show ${id}`}
          confirm="Show the order"
          title="Show an order that the fault hide hides"
          effect="It shows in lists and on streams at once. Nothing happens to an order that is not hidden."
          request={() => change('POST /sandbox/orders/{broker_order_id}/reveal', { broker_order_id: id }, undefined)}
          done={() => <p>The order is shown.</p>}
        />
      </div>
    )
  }
]

const COUNTERS = get('/sandbox/counters', {})

/** The part of the page about what the sandbox was asked for. */
export function Counters({ refreshMs }: PartProps): ReactNode {
  const changing = useSandboxChange()
  return (
    <SandboxPart
      id="counters"
      title="Requests to the sandbox"
      what="the counters"
      request={COUNTERS}
      refreshMs={refreshMs}
      actions={
        <>
          <div className="buttons after-rows">
            <ChangeButton
              changing={changing}
              change={{ request: change('DELETE /sandbox/counters', {}, undefined), report: 'They begin at zero.' }}
            >
              Count from zero
            </ChangeButton>
          </div>
          <Changed changing={changing} />
        </>
      }
    >
      {({ operations }) => <CounterRows operations={operations} />}
    </SandboxPart>
  )
}

interface CounterRow {
  readonly name: string
  readonly tally: SandboxCounters['operations'][string]
}

function CounterRows({ operations }: SandboxCounters): ReactNode {
  const rows = Object.entries(operations).map(([name, tally]) => ({ name, tally }))
  if (rows.length === 0) return <p>Nothing was asked for since then.</p>
  return <ScrolledRows what="operations" rows={rows} columns={COUNTER_COLUMNS} idOf={({ name }) => name} />
}

const COUNTER_COLUMNS: readonly Column<CounterRow>[] = [
  { name: 'Operation', cell: ({ name }) => <code>{name}</code> },
  { name: 'Requests', isNumber: true, cell: ({ tally }) => counted(tally.requests) },
  { name: 'Met a fault', isNumber: true, cell: ({ tally }) => counted(tally.faults) },
  {
    name: 'Answers',
    cell: ({ tally }) => {
      const answers = Object.entries(tally.answers).map(([answer, count]) => `${answer}: ${counted(count)}`)
      return answers.length === 0 ? <Missing means="none" /> : answers.join(', ')
    }
  }
]
