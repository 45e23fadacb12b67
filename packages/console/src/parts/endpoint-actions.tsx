// What operators change of webhook endpoints.
import type { ReactNode } from 'react'
import { change } from '../api.ts'
import { tookText } from '../format.ts'
import type { WebhookEndpointDetail, WebhookEndpointWithSecret, WebhookTest } from '../generated/admin.ts'
import { namesOf } from '../names.ts'
import { Action, Checks, checkedIn, TextInput, textIn } from './action.tsx'
import { CopyText } from './copy.tsx'
import { Facts } from './facts.tsx'
import { Missing, Status, Value } from './values.tsx'

type Topic = NonNullable<WebhookEndpointDetail['topics']>[number]
type OrderStatus = NonNullable<WebhookEndpointDetail['order_statuses']>[number]

// A value that was missing here would leave the filter of an endpoint that is changed: so each must be there to compile.
const TOPICS = namesOf<Topic>({ orders: true, positions: true, balances: true })
const STATUSES = namesOf<OrderStatus>({
  ...{ pending: true, working: true, partially_filled: true, filled: true, cancelled: true, rejected: true, expired: true },
  ...{ replaced: true, pending_cancel: true, pending_replace: true }
})
const SHOWN_ONCE = 'Its secret is shown once, in the answer.'

/** Of the form: the filter of an endpoint. */
function filterIn(form: FormData) {
  return { topics: checkedIn(form, 'topics', TOPICS), order_statuses: checkedIn(form, 'order_statuses', STATUSES) }
}

/** What differs from the endpoint as it was shown: another operator's change of the rest stays. */
function editIn(form: FormData, endpoint: WebhookEndpointDetail) {
  const given = { url: textIn(form, 'url'), description: textIn(form, 'description'), ...filterIn(form) }
  return {
    ...(given.url !== endpoint.url && { url: given.url }),
    ...(given.description !== endpoint.description && { description: given.description }),
    ...(!isSame(given.topics, endpoint.topics) && { topics: given.topics }),
    ...(!isSame(given.order_statuses, endpoint.order_statuses) && { order_statuses: given.order_statuses })
  }
}

function isSame(one: readonly string[] | null, other: readonly string[] | null): boolean {
  return JSON.stringify(one?.toSorted() ?? null) === JSON.stringify(other?.toSorted() ?? null)
}

function EndpointFields({ endpoint }: { readonly endpoint?: WebhookEndpointDetail }): ReactNode {
  return (
    <>
      <TextInput
        name="url"
        label="Address"
        type="url"
        value={endpoint?.url ?? ''}
        hint="https, to a public address"
        max={2048}
        isRequired
      />
      <TextInput name="description" label="Description" value={endpoint?.description ?? ''} max={200} />
      <Checks name="topics" legend="Topics (none: all)" values={TOPICS} chosen={endpoint?.topics ?? null} />
      <Checks
        name="order_statuses"
        legend="Of orders, these statuses (none: all)"
        values={STATUSES}
        chosen={endpoint?.order_statuses ?? null}
      />
    </>
  )
}

/** Creates an endpoint of the platform. */
export function CreateEndpoint({ platform }: { readonly platform: string }): ReactNode {
  return (
    <Action
      label="Create an endpoint"
      title="Create a webhook endpoint"
      effect={`From now on the updates of all users of the platform are sent to this address. ${SHOWN_ONCE}`}
      fields={<EndpointFields />}
      request={form =>
        change(
          'POST /platforms/{platform_id}/webhook-endpoints',
          { platform_id: platform },
          { url: textIn(form, 'url'), description: textIn(form, 'description'), ...filterIn(form) }
        )
      }
      done={Secret}
    />
  )
}

/** Shown as long as the dialog is open, and kept nowhere. */
function Secret({ endpoint_id: id, secret, public_keys: keys }: WebhookEndpointWithSecret): ReactNode {
  return (
    <>
      <p>Done. Store the secret now: it is shown only this once.</p>
      <Facts
        facts={[
          ['Endpoint', <CopyText key="id" text={id} what="endpoint id" />],
          ['Secret', <CopyText key="secret" text={secret} what="secret" />],
          ['Public keys', keys.map(key => <CopyText key={key} text={key} what="public key" />)]
        ]}
      />
    </>
  )
}

interface EndpointProps {
  readonly platform: string
  readonly endpoint: WebhookEndpointDetail
}

/** All changes of one endpoint. */
export function EndpointActions({ platform, endpoint }: EndpointProps): ReactNode {
  const parts = { platform_id: platform, endpoint_id: endpoint.endpoint_id }
  const { host } = new URL(endpoint.url)
  return (
    <div className="buttons actions">
      <Action
        label="Send a test message"
        title={`Send a test message to ${host}`}
        effect="One attempt is made now, also if the endpoint is disabled; it is not tried again."
        request={() => change('POST /platforms/{platform_id}/webhook-endpoints/{endpoint_id}/test', parts, undefined)}
        done={Attempt}
      />
      <Action
        label="Change"
        title={`Change ${host}`}
        effect="What you change here holds from the next attempt on, and all waits for retries end."
        fields={<EndpointFields endpoint={endpoint} />}
        request={form => change('PATCH /platforms/{platform_id}/webhook-endpoints/{endpoint_id}', parts, editIn(form, endpoint))}
        done={() => <p>The endpoint is changed.</p>}
      />
      <Switch platform={platform} endpoint={endpoint} />
      <Action
        label="Rotate the keys"
        title={`Rotate the keys of ${host}`}
        effect="Messages are signed by new keys, and by the old ones as long as you say; 0 ends the old ones at once."
        fields={<TextInput name="hours" label="Hours of overlap" type="number" value="24" min={0} max={168} isRequired />}
        request={form =>
          change('POST /platforms/{platform_id}/webhook-endpoints/{endpoint_id}/rotate-keys', parts, {
            overlap_hours: Number(textIn(form, 'hours'))
          })
        }
        done={Secret}
      />
      <Replay platform={platform} endpoint={endpoint} />
      <Action
        label="Delete"
        title={`Delete ${host}`}
        effect="The endpoint, its deliveries and its place in every log are erased, and cannot be brought back."
        request={() => change('DELETE /platforms/{platform_id}/webhook-endpoints/{endpoint_id}', parts, undefined)}
        done={() => <p>The endpoint is deleted.</p>}
      />
    </div>
  )
}

function Switch({ platform, endpoint }: EndpointProps): ReactNode {
  const parts = { platform_id: platform, endpoint_id: endpoint.endpoint_id }
  const { host } = new URL(endpoint.url)
  const done = ({ disabled_at: at }: WebhookEndpointDetail) => <p>The endpoint is {at === null ? 'enabled' : 'disabled'}.</p>
  return endpoint.disabled_at === null ? (
    <Action
      label="Disable"
      title={`Disable ${host}`}
      effect="The endpoint is sent nothing until it is enabled again; then it goes on where it was."
      request={() => change('POST /platforms/{platform_id}/webhook-endpoints/{endpoint_id}/disable', parts, undefined)}
      done={done}
    />
  ) : (
    <Action
      label="Enable"
      title={`Enable ${host}`}
      effect="The endpoint goes on where it was, as far as the log reaches back."
      request={() => change('POST /platforms/{platform_id}/webhook-endpoints/{endpoint_id}/enable', parts, undefined)}
      done={done}
    />
  )
}

function Replay({ platform, endpoint }: EndpointProps): ReactNode {
  const parts = { platform_id: platform, endpoint_id: endpoint.endpoint_id }
  return (
    <Action
      label="Send updates again"
      title={`Send updates again to ${new URL(endpoint.url).host}`}
      effect="A message, or a user’s updates from one seq to another, are sent once more beside what is sent by itself."
      fields={
        <>
          <TextInput name="message" label="Message id" hint="Either this, or the three below." />
          <TextInput name="user" label="User id" />
          <TextInput name="from" label="From seq" type="number" min={1} />
          <TextInput name="to" label="To seq" type="number" min={1} />
        </>
      }
      request={form => {
        const [message, user, from, to] = ['message', 'user', 'from', 'to'].map(name => textIn(form, name))
        return change('POST /platforms/{platform_id}/webhook-endpoints/{endpoint_id}/replay', parts, {
          ...(message && { message_id: message }),
          ...(user && { user_id: user }),
          ...(from && { from_seq: Number(from) }),
          ...(to && { to_seq: Number(to) })
        })
      }}
      done={({ from_seq: from, to_seq: to }) => (
        <p>
          The updates from {from} to {to} are being sent again. The attempts show what becomes of it.
        </p>
      )}
    />
  )
}

function Attempt({ failure, status, took_ms: took, is_kept: isKept }: WebhookTest): ReactNode {
  return (
    <Facts
      facts={[
        ['Outcome', <Status key="outcome" status={failure ?? 'delivered'} />],
        ['Status', <Value key="status" value={status} nullMeans="no answer" />],
        ['Took', tookText(took)],
        [
          'Kept',
          isKept === null ? (
            <Missing key="kept" />
          ) : isKept ? (
            'yes, among the attempts'
          ) : (
            'no: it was sent, and the database takes no writes'
          )
        ]
      ]}
    />
  )
}
