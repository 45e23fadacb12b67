/** Parses the inputs of operators' operations, which arrive over a socket. */
import { Malformed } from '@trunkline/core/domain/malformed'
import { OPERATOR_SCOPES } from '@trunkline/core/domain/operator'
import { SCOPES } from '@trunkline/core/domain/platform-key'
import { parseColor } from '../ops/color.ts'
import { field, NAME_LENGTH_MAX, oneOf, orNull, printable, texts, timeOrNull, uuid, whole, yesOrNo } from './inputs.ts'
import {
  type ChainHead,
  type EditPlatform,
  type Input,
  type NamedKey,
  type NamedPlatform,
  type NamedUser,
  type OperationName,
  ORDERS_LIMIT_MAX,
  OVERLAP_SECONDS_MAX,
  parseChainHead,
  REDIRECTS_MAX,
  setName
} from './operations.ts'
import { WEBHOOK_PARSERS } from './webhook-operations.ts'

const ADDRESSES_MAX = 50
const AUDIT_LIMIT_MAX = 10_000
const HOURS_MAX = 9_999

/** Parses inputs from the socket. Each parser throws Malformed naming the field. */
export const INPUT_PARSERS: { readonly [Name in OperationName]: (input: unknown) => Input<Name> } = {
  'platform.create': input => ({
    name: printable(field(input, 'name'), 'name', NAME_LENGTH_MAX),
    redirects: redirects(field(input, 'redirects')),
    claims: yesOrNo(field(input, 'claims'), 'claims'),
    ...brand(input)
  }),
  'platform.edit': input => {
    const name = field(input, 'name')
    return { ...namedPlatform(input), ...(name === undefined ? {} : { name: printable(name, 'name', NAME_LENGTH_MAX) }), ...brand(input) }
  },
  'platform.redirects': input => ({
    ...namedPlatform(input),
    add: redirects(field(input, 'add')),
    remove: redirects(field(input, 'remove'))
  }),
  'platform.list': () => ({}),
  'platform.rotate_secret': input => ({
    ...namedPlatform(input),
    overlapSeconds: whole(field(input, 'overlapSeconds'), 'overlap', 0, OVERLAP_SECONDS_MAX)
  }),
  'platform.disable': namedPlatform,
  'platform.enable': namedPlatform,
  'key.create': input => ({
    ...namedPlatform(input),
    name: printable(field(input, 'name'), 'name', 100),
    scopes: texts(field(input, 'scopes'), 'scope', SCOPES.length),
    addresses: texts(field(input, 'addresses'), 'address', ADDRESSES_MAX),
    expiresAt: timeOrNull(field(input, 'expiresAt'))
  }),
  'key.list': namedPlatform,
  'key.disable': namedKey,
  'key.enable': namedKey,
  'key.revoke': namedKey,
  'user.disable': namedUser,
  'user.enable': namedUser,
  'keys.status': () => ({}),
  'keys.rotate': input => ({
    mode: oneOf(field(input, 'mode'), 'mode', ['add', 'finish']),
    retire: oneOf(field(input, 'retire'), 'retire', ['no', 'when_safe', 'now'])
  }),
  'orders.unresolved': input => ({ limit: whole(field(input, 'limit'), 'limit', 1, ORDERS_LIMIT_MAX) }),
  'orders.abandoned': input => ({ limit: whole(field(input, 'limit'), 'limit', 1, ORDERS_LIMIT_MAX) }),
  'orders.settle': input => ({
    orderId: uuid(field(input, 'orderId'), 'order_id'),
    because: printable(field(input, 'because'), 'because', 200),
    unseen: yesOrNo(field(input, 'unseen'), 'unseen')
  }),
  'orders.settle_all': input => ({
    broker: orNull(field(input, 'broker'), broker => printable(broker, 'broker', 64)),
    connectionId: orNull(field(input, 'connectionId'), id => uuid(id, 'connection_id')),
    olderThanHours: orNull(field(input, 'olderThanHours'), hours => whole(hours, 'older than', 1, HOURS_MAX)),
    expected: orNull(field(input, 'expected'), setName),
    because: printable(field(input, 'because'), 'because', 200),
    unseen: yesOrNo(field(input, 'unseen'), 'unseen')
  }),
  'operator.link': input => ({ scopes: operatorScopes(input) }),
  'operator.sessions': () => ({}),
  'operator.end_session': input => ({ sessionId: uuid(field(input, 'sessionId'), 'session_id') }),
  'operator.key_create': input => ({
    name: printable(field(input, 'name'), 'name', 100),
    scopes: operatorScopes(input),
    expiresAt: timeOrNull(field(input, 'expiresAt'))
  }),
  'operator.key_list': () => ({}),
  'operator.key_revoke': input => ({ keyId: uuid(field(input, 'keyId'), 'key_id') }),
  ...WEBHOOK_PARSERS,
  'audit.verify': input => ({ kept: expectedHead(field(input, 'kept')) }),
  'audit.export': input => ({
    after: whole(field(input, 'after'), 'after', 0, Number.MAX_SAFE_INTEGER),
    limit: whole(field(input, 'limit'), 'limit', 1, AUDIT_LIMIT_MAX)
  }),
  'audit.list': input => ({ limit: whole(field(input, 'limit'), 'limit', 1, AUDIT_LIMIT_MAX) })
}

export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(INPUT_PARSERS, name)
}

function namedPlatform(input: unknown): NamedPlatform {
  return { platform: printable(field(input, 'platform'), 'platform', 64) }
}

/** Fields that are absent in the input are absent in the result. */
function brand(input: unknown): Pick<EditPlatform, 'color' | 'appUrl'> {
  const [color, appUrl] = [field(input, 'color'), field(input, 'appUrl')]
  return {
    ...(color === undefined ? {} : { color: orNull(color, parseColor) }),
    ...(appUrl === undefined ? {} : { appUrl: orNull(appUrl, url => printable(url, 'app_url', 2_048)) })
  }
}

function operatorScopes(input: unknown): readonly string[] {
  return texts(field(input, 'scopes'), 'scope', OPERATOR_SCOPES.length)
}

function namedKey(input: unknown): NamedKey {
  return { key: printable(field(input, 'key'), 'key', 64) }
}

function namedUser(input: unknown): NamedUser {
  return { ...namedPlatform(input), userId: printable(field(input, 'userId'), 'user_id', 64) }
}

function redirects(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.length <= REDIRECTS_MAX) return value.map(item => printable(item, 'redirect', 2_048))
  throw new Malformed('redirects', `at most ${REDIRECTS_MAX} addresses`, value)
}

function expectedHead(value: unknown): ChainHead | null {
  if (value === null || value === undefined) return null
  return parseChainHead(`${String(field(value, 'position'))}:${String(field(value, 'hash'))}`)
}
