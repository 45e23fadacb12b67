// The attacks that the service is held to withstand. A test that shows one ends its title with the attack's id, as in "… [S47]".

export interface Attack {
  readonly id: string
  readonly attack: string
  /** What must happen, as this project holds it. */
  readonly outcome: string
  /** Why the outcome is not the usual one. */
  readonly note?: string
  /** What it waits for: the service does not have that part yet. */
  readonly later?: string
  /** What is missing today, and why. */
  readonly open?: string
  /** What else shows it where a test of this repository cannot. */
  readonly shown?: string
}

export interface Area {
  readonly title: string
  readonly attacks: readonly Attack[]
}

const NODES = 'several nodes over one database'
const WEBHOOKS = 'webhooks'
const RISK = 'risk rules of a platform'
const IMAGE = 'the container image'

export const AREAS: readonly Area[] = [
  {
    title: 'Logins and the portal',
    attacks: [
      { id: 'S1', attack: 'A callback with a state nobody was given', outcome: 'a 400 page, no call for a token, an audit entry' },
      { id: 'S2', attack: 'A callback with a state that was used', outcome: '400; what the first use brought stays untouched' },
      {
        id: 'S3',
        attack: 'A callback that comes too late',
        outcome: '400 and “expired”; the user can begin again',
        note: 'A link and its state live 30 minutes, as the contract requires, not 10.'
      },
      { id: 'S4', attack: 'A valid state from another browser', outcome: '400, no connection' },
      { id: 'S5', attack: 'A state of one user in the flow of another', outcome: '400, no link between the two' },
      { id: 'S6', attack: 'A state of one broker at the callback of another', outcome: '400; neither token endpoint is called' },
      { id: 'S7', attack: '`iss` that differs by one slash', outcome: 'the login ends, with an alarm' },
      { id: 'S8', attack: '`iss` left out though the broker advertises it', outcome: 'the login ends' },
      { id: 'S9', attack: 'A callback with code and error, or with two codes', outcome: '400' },
      {
        id: 'S10',
        attack: 'A code taken on its way',
        outcome: 'useless without the verifier: S256 wherever the broker takes it, verifiers never logged and never used twice'
      },
      { id: 'S11', attack: 'A broker that ignores PKCE', outcome: 'a test of its adapter says so, not production' },
      { id: 'S12', attack: 'Redirects that look like an allowed one', outcome: '400, no Location' },
      {
        id: 'S13',
        attack: 'An allowed redirect with a query of its own',
        outcome: '400: compared character for character',
        note: 'Holds for platforms that have a redirect list.'
      },
      { id: 'S14', attack: 'A portal link opened in two browsers', outcome: 'the second reads that the link was used' },
      {
        id: 'S15',
        attack: 'A portal link sent to somebody else, who finishes the login',
        outcome: 'the connection waits for its claim, reads and trades nothing, and is erased when nobody claims it',
        note: 'For platforms with claims on. With claims off the page names platform and user before the broker, and that is all.'
      },
      { id: 'S16', attack: 'The portal inside a frame of another site', outcome: 'refused by `frame-ancestors`' },
      { id: 'S17', attack: 'Messages between windows from a foreign origin', outcome: 'ignored', later: 'a portal that is embedded' },
      { id: 'S18', attack: 'What a page may load', outcome: 'strict headers, nothing of third parties' },
      { id: 'S19', attack: 'Markup in labels, names and broker errors', outcome: 'shown as text' },
      { id: 'S20', attack: 'Codes and tokens in referrers, histories and logs', outcome: 'none over the whole flow' },
      { id: 'S21', attack: 'Twenty refreshes of one login at once', outcome: 'one call for a token; the rest wait for it' },
      {
        id: 'S22',
        attack: 'The broker refuses a refresh for good',
        outcome: '`BROKEN`: old records readable, trading refused, no loop of retries'
      },
      { id: 'S23', attack: 'A connection is deleted', outcome: 'revoked at the broker, credentials erased, its sessions ended' },
      { id: 'S24', attack: 'Credentials of one environment at the hosts of another', outcome: 'refused before anything is sent' }
    ]
  },
  {
    title: 'Who may do what',
    attacks: [
      {
        id: 'S25',
        attack: 'Every route with every kind of wrong credentials',
        outcome: 'only the allowed cells pass; a new route without a row fails the build'
      },
      { id: 'S26', attack: 'Ids of another user', outcome: '404, like an id that never was' },
      { id: 'S27', attack: 'Unknown client or wrong secret, distinguished by time', outcome: 'one answer, one cost' },
      { id: 'S28', attack: 'Secrets that differ in one place', outcome: 'no trend in time' },
      { id: 'S29', attack: 'Hundreds of wrong secrets from one address', outcome: '429 there; the owner elsewhere is not disturbed' },
      { id: 'S30', attack: 'A secret that was rotated', outcome: 'useless within two seconds; its sessions are closed' },
      { id: 'S31', attack: 'A user who was deleted', outcome: 'sessions closed, tokens erased, ids 404' },
      { id: 'S32', attack: 'Fields nobody asked for', outcome: '400, nothing stored' },
      {
        id: 'S33',
        attack: 'A user’s credentials on a platform’s routes',
        outcome: 'refused',
        note: 'Insufficient entitlement is 401, as the contract requires.'
      },
      {
        id: 'S34',
        attack: 'Repeated headers and fields, spoofed forwarding',
        outcome: '400, or a stated winner that is never the attacker’s'
      },
      { id: 'S35', attack: 'Overridden and unknown methods', outcome: '405 or 400' },
      {
        id: 'S36',
        attack: 'An order over a read-only connection',
        outcome: 'refused before it is written',
        note: '401, as the contract requires, not 403.'
      },
      { id: 'S37', attack: 'A permission withdrawn while a socket is open', outcome: 'no further event; closed within five seconds' }
    ]
  },
  {
    title: 'Orders',
    attacks: [
      { id: 'S38', attack: 'Numbers in every other notation', outcome: '400; sums are exact' },
      {
        id: 'S39',
        attack: 'A `cl_order_id` again with another body',
        outcome: '409 that says nothing of the first order but its id',
        note: 'The 409 carries `order_id`: it is the same user’s order.'
      },
      {
        id: 'S40',
        attack: 'A `cl_order_id` again by another user',
        outcome: 'independent',
        note: 'Uniqueness is by user and trading day: another account of the same user is a 409.'
      },
      { id: 'S41', attack: 'A hundred equal requests at once', outcome: 'one order, one call to the broker' },
      {
        id: 'S42',
        attack: 'A `cl_order_id` with control characters, marks of direction, emoji, or too long',
        outcome: '400',
        note: 'SQL in printable characters is text like any other.'
      },
      { id: 'S43', attack: 'A thousand orders a second from one user', outcome: '429 for that user; the others’ latency stays' },
      { id: 'S44', attack: 'An order while another in the same symbol is unresolved', outcome: '409 unless accepted', later: RISK },
      { id: 'S45', attack: 'A price far away, or an amount over the cap', outcome: 'refused by policy, audited', later: RISK }
    ]
  },
  {
    title: 'Sockets',
    attacks: [
      { id: 'S46', attack: 'A foreign or `null` Origin', outcome: '403 before the upgrade; programs without one may come in' },
      {
        id: 'S47',
        attack: 'Thousands of sockets that never authenticate',
        outcome: 'closed in time; a client with credentials gets in at once'
      },
      {
        id: 'S48',
        attack: 'Messages before the authentication, or a second one as somebody else',
        outcome: 'no effect',
        note: 'A session that is authenticated stays as it is, as the contract requires; one that is not is closed when its time is over.'
      },
      { id: 'S49', attack: 'Large, fragmented and crumbled messages', outcome: '1009, memory stays' },
      { id: 'S50', attack: 'Frames that break the protocol', outcome: 'closed with its code, no crash' },
      { id: 'S51', attack: 'Compression offered', outcome: 'not negotiated' },
      { id: 'S52', attack: 'A flood of pings', outcome: 'closed; the event loop keeps its pace' },
      { id: 'S53', attack: 'A reader that never reads', outcome: 'closed at a bound, memory given back' },
      {
        id: 'S54',
        attack: 'A subscription to another platform’s user',
        outcome: 'an error, audited; numbers of others cannot be inferred'
      },
      {
        id: 'S55',
        attack: 'A market data token used again, elsewhere, or in the address',
        outcome: 'one token in use, from one address, never in a URL',
        note: 'The contract has tokens that live 24 hours instead of tickets for one use.'
      },
      { id: 'S56', attack: 'Upgrades to unknown paths, with bodies, asked for twice', outcome: '4xx, socket closed' },
      { id: 'S57', attack: 'A revocation while sockets are open on three nodes', outcome: 'all closed', later: NODES }
    ]
  },
  {
    title: 'Secrets at rest',
    attacks: [
      {
        id: 'S58',
        attack: 'Sealed values exchanged between users or columns, or an older one put back',
        outcome: 'nothing opens; an alarm, and the connection is `BROKEN` with the reason'
      },
      { id: 'S59', attack: 'Any bit of a sealed value turned over', outcome: 'nothing opens' },
      { id: 'S60', attack: 'A tag that is short, empty or missing', outcome: 'refused' },
      { id: 'S61', attack: 'A master key exchanged under load', outcome: 'no request fails; without the old key only old backups need it' },
      { id: 'S62', attack: 'The wrong master key at the start', outcome: 'refuses to start and says so; the database is not touched' },
      { id: 'S63', attack: 'Chance that repeats or fails', outcome: 'keys and nonces are unique; a failure is an error, never a fallback' },
      { id: 'S64', attack: 'A search for secrets in everything on the disk', outcome: 'none' },
      { id: 'S65', attack: 'A key file that others can read', outcome: 'refuses to start' }
    ]
  },
  {
    title: 'Texts and parsers',
    attacks: [
      { id: 'S66', attack: '`__proto__` and `constructor` wherever objects are read', outcome: '400 or ignored; no prototype changes' },
      { id: 'S67', attack: 'Deep, wide and long JSON', outcome: 'refused at once, no stack overflow' },
      { id: 'S68', attack: 'Text made to keep regular expressions busy', outcome: 'a few milliseconds' },
      { id: 'S69', attack: 'SQL in every text field', outcome: 'only bound parameters; SQL put together from strings fails a test' },
      { id: 'S70', attack: 'Line breaks, escapes and JSON in what is logged', outcome: 'one line, escaped' },
      { id: 'S71', attack: 'Headers, bodies and reads at a byte a second', outcome: 'cut off; the others are not slowed' },
      { id: 'S72', attack: 'Oversized headers, ambiguous lengths, bad chunks', outcome: '431 or 400, closed' },
      { id: 'S73', attack: 'A body over the limit', outcome: '413 before it is in memory', note: 'The limit is 256 KiB.' },
      { id: 'S74', attack: 'An exception where nobody expects one', outcome: 'a plain 500; every other socket lives on' }
    ]
  },
  {
    title: 'Calls to others',
    attacks: [
      { id: 'S75', attack: 'A webhook to an inner address, however written', outcome: 'refused', later: WEBHOOKS },
      { id: 'S76', attack: 'A webhook that redirects to one', outcome: 'not followed', later: WEBHOOKS },
      {
        id: 'S77',
        attack: 'A broker that answers with 50 MB, a compression bomb, a page, endless pages, other types and words',
        outcome: 'bounded, a typed error, the adapter goes on'
      },
      {
        id: 'S78',
        attack: 'A broker’s certificate that is invalid, expired or another host’s',
        outcome: 'refused; nothing turns that off'
      },
      { id: 'S79', attack: 'A broker’s stream with events of somebody else’s account', outcome: 'dropped, with an alarm' }
    ]
  },
  {
    title: 'Operation and supply',
    attacks: [
      { id: 'S80', attack: 'Secrets sent through every route', outcome: 'in no log, metric or error' },
      {
        id: 'S81',
        attack: 'Audit entries altered or removed',
        outcome: 'the check names the entry; the service’s database role can do neither where the operator separates it'
      },
      { id: 'S82', attack: 'What a container brings along', outcome: 'no root, no shell, nothing to write', later: IMAGE },
      { id: 'S83', attack: 'A tampered lock file, foreign hosts, git sources, install scripts', outcome: 'the build fails' },
      {
        id: 'S84',
        attack: 'Metrics, debugging, source maps and folders from outside',
        outcome: '404, or a token; health says nothing of the inside',
        note: 'The API reference at `/docs` is public, as the contract requires.'
      }
    ]
  }
]

export const ATTACKS: readonly Attack[] = AREAS.flatMap(({ attacks }) => attacks)
