// The attacks that the service must withstand. The title of a test that covers one ends with the attack's id, as in "… [S47]".

export interface Attack {
  readonly id: string
  readonly attack: string
  /** What this project requires to happen. */
  readonly outcome: string
  /** Why the outcome differs from the usual one. */
  readonly note?: string
  /** The part that it concerns, which the service does not have yet. */
  readonly later?: string
  /** What is missing, and why. */
  readonly open?: string
  /** Other evidence, if a test of this repository cannot prove it. */
  readonly shown?: string
}

export interface Area {
  readonly title: string
  readonly attacks: readonly Attack[]
}

const NODES = 'several nodes over one database'
const RISK = 'risk rules of a platform'
const IMAGE = 'the container image'

export const AREAS: readonly Area[] = [
  {
    title: 'Logins and the portal',
    attacks: [
      { id: 'S1', attack: 'A callback with a state that was never issued', outcome: 'a 400 page, no token request, an audit entry' },
      { id: 'S2', attack: 'A callback with a state that was already used', outcome: '400; the result of the first use stays unchanged' },
      {
        id: 'S3',
        attack: 'A callback after the state has expired',
        outcome: '400 and “expired”; the user can start again',
        note: 'A link and its state live 30 minutes, as the contract requires, not 10.'
      },
      { id: 'S4', attack: 'A valid state from another browser', outcome: '400, no connection' },
      { id: 'S5', attack: 'A state of one user in the flow of another', outcome: '400, no link between the two' },
      { id: 'S6', attack: 'A state of one broker at the callback of another', outcome: '400; neither token endpoint is called' },
      { id: 'S7', attack: '`iss` that differs by one slash', outcome: 'the login ends, with an alarm' },
      { id: 'S8', attack: '`iss` missing although the broker advertises it', outcome: 'the login ends' },
      { id: 'S9', attack: 'A callback with code and error, or with two codes', outcome: '400' },
      {
        id: 'S10',
        attack: 'An intercepted authorization code',
        outcome: 'useless without the verifier: S256 wherever the broker supports it, verifiers never logged and never reused'
      },
      { id: 'S11', attack: 'A broker that ignores PKCE', outcome: 'a test of its adapter detects it before production does' },
      { id: 'S12', attack: 'Redirects that resemble an allowed one', outcome: '400, no Location' },
      {
        id: 'S13',
        attack: 'An allowed redirect with an added query',
        outcome: '400: compared character for character',
        note: 'Applies to platforms that have a redirect list.'
      },
      { id: 'S14', attack: 'A portal link opened in two browsers', outcome: 'the second browser shows that the link was used' },
      {
        id: 'S15',
        attack: 'A portal link sent to another person, who completes the login',
        outcome: 'the connection can neither read nor trade until it is claimed, and is erased if it is not',
        note: 'For platforms with claims on. With claims off, the only protection is the page before the broker’s login, which names platform and user.'
      },
      { id: 'S16', attack: 'The portal in a frame of another site', outcome: 'refused by `frame-ancestors`' },
      { id: 'S17', attack: 'Window messages from a foreign origin', outcome: 'ignored', later: 'a portal that is embedded' },
      { id: 'S18', attack: 'Foreign content in a page', outcome: 'strict headers, nothing from third parties' },
      { id: 'S19', attack: 'Markup in labels, names and broker errors', outcome: 'shown as text' },
      { id: 'S20', attack: 'Codes and tokens in referrers, histories and logs', outcome: 'none in the whole flow' },
      { id: 'S21', attack: 'Twenty refreshes of one login at once', outcome: 'one token request; the others wait for it' },
      {
        id: 'S22',
        attack: 'The broker definitively refuses a refresh',
        outcome: '`BROKEN`: old records readable, trading refused, no retry loop'
      },
      { id: 'S23', attack: 'A deleted connection', outcome: 'revoked at the broker, credentials erased, sessions ended' },
      { id: 'S24', attack: 'Credentials of one environment at the hosts of another', outcome: 'refused before anything is sent' }
    ]
  },
  {
    title: 'Authorization',
    attacks: [
      {
        id: 'S25',
        attack: 'Every route with every kind of wrong credentials',
        outcome: 'only the allowed combinations pass; a new route without a row in the table fails the build'
      },
      { id: 'S26', attack: 'Ids of another user', outcome: '404, as for an id that never existed' },
      { id: 'S27', attack: 'Telling an unknown client from a wrong secret by timing', outcome: 'the same answer at the same cost' },
      { id: 'S28', attack: 'Secrets that differ in one character', outcome: 'no trend in response time' },
      {
        id: 'S29',
        attack: 'Hundreds of wrong secrets from one address',
        outcome: '429 for that address; the owner at another address is not affected'
      },
      { id: 'S30', attack: 'A secret that was rotated', outcome: 'useless within two seconds; its sessions are closed' },
      { id: 'S31', attack: 'A user who was deleted', outcome: 'sessions closed, tokens erased, ids 404' },
      { id: 'S32', attack: 'Unknown fields', outcome: '400, nothing stored' },
      {
        id: 'S33',
        attack: 'A user’s credentials on a platform’s routes',
        outcome: 'refused',
        note: 'Insufficient entitlement is 401, as the contract requires.'
      },
      {
        id: 'S34',
        attack: 'Repeated headers and fields, spoofed forwarding headers',
        outcome: '400, or a documented precedence that never favours the attacker'
      },
      { id: 'S35', attack: 'Overridden and unknown methods', outcome: '405 or 400' },
      {
        id: 'S36',
        attack: 'An order over a read-only connection',
        outcome: 'refused before it is recorded',
        note: '401, as the contract requires, not 403.'
      },
      { id: 'S37', attack: 'A permission revoked while a socket is open', outcome: 'no further event; closed within five seconds' }
    ]
  },
  {
    title: 'Orders',
    attacks: [
      { id: 'S38', attack: 'Numbers in other notations', outcome: '400; sums are exact' },
      {
        id: 'S39',
        attack: 'A reused `cl_order_id` with another body',
        outcome: '409 that reveals nothing of the first order but its id',
        note: 'The 409 carries `order_id`: it is the same user’s order.'
      },
      {
        id: 'S40',
        attack: 'A `cl_order_id` of another user',
        outcome: 'independent',
        note: 'A `cl_order_id` is unique per user and trading day: reuse in another account of the same user is a 409.'
      },
      { id: 'S41', attack: 'A hundred identical requests at once', outcome: 'one order, one call to the broker' },
      {
        id: 'S42',
        attack: 'A `cl_order_id` with control characters, directional marks or emoji, or that is too long',
        outcome: '400',
        note: 'SQL in printable characters is text like any other.'
      },
      {
        id: 'S43',
        attack: 'A thousand orders a second from one user',
        outcome: '429 for that user; the latency of others does not change'
      },
      { id: 'S44', attack: 'An order while another in the same symbol is unresolved', outcome: '409 unless accepted', later: RISK },
      { id: 'S45', attack: 'A price far from the market, or an amount over the cap', outcome: 'refused by policy, audited', later: RISK }
    ]
  },
  {
    title: 'Sockets',
    attacks: [
      { id: 'S46', attack: 'A foreign or `null` Origin', outcome: '403 before the upgrade; programs, which send no Origin, are admitted' },
      {
        id: 'S47',
        attack: 'Thousands of sockets that never authenticate',
        outcome: 'closed after a time limit; a client with credentials is admitted at once'
      },
      {
        id: 'S48',
        attack: 'Messages before the authentication, or a second authentication as another user',
        outcome: 'no effect',
        note: 'An authenticated session stays as it is, as the contract requires; an unauthenticated one is closed at its time limit.'
      },
      { id: 'S49', attack: 'Large messages, also in many fragments and tiny chunks', outcome: '1009; memory does not grow' },
      { id: 'S50', attack: 'Frames that break the protocol', outcome: 'closed with its code, no crash' },
      { id: 'S51', attack: 'Compression offered', outcome: 'not negotiated' },
      { id: 'S52', attack: 'A flood of pings', outcome: 'closed; the event loop is not delayed' },
      { id: 'S53', attack: 'A reader that never reads', outcome: 'closed at a bound, memory released' },
      {
        id: 'S54',
        attack: 'A subscription to another platform’s user',
        outcome: 'an error, audited; nothing about other platforms’ users can be inferred'
      },
      {
        id: 'S55',
        attack: 'A market data token reused, used from another address, or sent in the URL',
        outcome: 'one token in use, from one address, never in a URL',
        note: 'The contract has tokens that live 24 hours instead of single-use tickets.'
      },
      { id: 'S56', attack: 'Upgrades to unknown paths, with bodies, or repeated', outcome: '4xx, socket closed' },
      { id: 'S57', attack: 'A revocation while sockets are open on three nodes', outcome: 'all closed', later: NODES }
    ]
  },
  {
    title: 'Secrets at rest',
    attacks: [
      {
        id: 'S58',
        attack: 'Sealed values swapped between users or columns, or replaced by an older one',
        outcome: 'nothing can be opened; an alarm, and the connection is `BROKEN` with the reason'
      },
      { id: 'S59', attack: 'Any bit of a sealed value flipped', outcome: 'it cannot be opened' },
      { id: 'S60', attack: 'An authentication tag that is short, empty or missing', outcome: 'refused' },
      { id: 'S61', attack: 'A master key rotated under load', outcome: 'no request fails; afterwards only old backups need the old key' },
      {
        id: 'S62',
        attack: 'The wrong master key at the start',
        outcome: 'the service refuses to start and gives the reason; the database is not touched'
      },
      {
        id: 'S63',
        attack: 'A random source that repeats or fails',
        outcome: 'keys and nonces are unique; a failure is an error, never a fallback'
      },
      { id: 'S64', attack: 'A search for secrets in everything on disk', outcome: 'none found' },
      { id: 'S65', attack: 'A key file that other users can read', outcome: 'the service refuses to start' }
    ]
  },
  {
    title: 'Input and parsers',
    attacks: [
      { id: 'S66', attack: '`__proto__` and `constructor` in every parsed object', outcome: '400 or ignored; no prototype is changed' },
      { id: 'S67', attack: 'Deep, wide and long JSON', outcome: 'refused at once, no stack overflow' },
      { id: 'S68', attack: 'Text that makes regular expressions backtrack', outcome: 'a few milliseconds at most' },
      { id: 'S69', attack: 'SQL in every text field', outcome: 'only bound parameters; SQL concatenated from strings fails a test' },
      { id: 'S70', attack: 'Line breaks, escapes and JSON in logged text', outcome: 'one line, escaped' },
      { id: 'S71', attack: 'Headers, bodies and reads at one byte per second', outcome: 'the connection is closed; others are not slowed' },
      { id: 'S72', attack: 'Oversized headers, ambiguous lengths, bad chunks', outcome: '431 or 400, connection closed' },
      { id: 'S73', attack: 'A body over the limit', outcome: '413 before the body is in memory', note: 'The limit is 256 KiB.' },
      { id: 'S74', attack: 'An unexpected exception', outcome: 'a plain 500; every other socket stays open' }
    ]
  },
  {
    title: 'Outgoing calls',
    attacks: [
      { id: 'S75', attack: 'A webhook to an internal address, in any notation', outcome: 'refused' },
      { id: 'S76', attack: 'A webhook that redirects to an internal address', outcome: 'not followed' },
      {
        id: 'S77',
        attack: 'A broker that answers with 50 MB, a compression bomb, HTML, endless pages, wrong types or unknown values',
        outcome: 'bounded; a typed error; the adapter goes on'
      },
      {
        id: 'S78',
        attack: 'A broker’s certificate that is invalid, expired or for another host',
        outcome: 'refused; the check cannot be turned off'
      },
      { id: 'S79', attack: 'A broker’s stream with events of another user’s account', outcome: 'dropped, with an alarm' }
    ]
  },
  {
    title: 'Operation and supply chain',
    attacks: [
      { id: 'S80', attack: 'Secrets sent through every route', outcome: 'none in a log, metric or error' },
      {
        id: 'S81',
        attack: 'Audit entries altered or removed',
        outcome: 'the check names the entry; the service’s database role can do neither if the operator separates the roles'
      },
      { id: 'S82', attack: 'Contents of the container image', outcome: 'no root, no shell, no writable files', later: IMAGE },
      { id: 'S83', attack: 'A tampered lock file, foreign hosts, git sources, install scripts', outcome: 'the build fails' },
      {
        id: 'S84',
        attack: 'Metrics, debug endpoints, source maps and directory listings from outside',
        outcome: '404, or a token is required; health reveals nothing internal',
        note: 'The API reference at `/docs` is public, as the contract requires.'
      },
      {
        id: 'S85',
        attack: 'Credentials of a platform at the API for operators, those of an operator elsewhere, or a scope that lacks',
        outcome: 'refused; every operation names its scope'
      },
      {
        id: 'S86',
        attack: 'A page of another site that exchanges an operator’s code, or acts with the cookie of a session',
        outcome: 'refused: the request needs the service’s origin and a header that no form sends'
      },
      { id: 'S87', attack: 'An operator’s code used twice, by two at once, or after ten minutes', outcome: 'one session at most' },
      {
        id: 'S88',
        attack:
          'A login by the provider that is completed twice, at two nodes at once, in another browser, or with a forged state or nonce',
        outcome: 'one session at most, in the browser that began it; that browser’s own login goes on'
      },
      { id: 'S89', attack: 'An answer of another login provider (mix-up), or without `iss`', outcome: 'refused before the code is sent' },
      {
        id: 'S90',
        attack:
          'An ID token of another issuer or client, expired, unsigned (`none`), signed with the client secret or by another key, or changed',
        outcome: 'nobody is logged in'
      },
      {
        id: 'S91',
        attack: 'A login provider that sends huge answers, none, redirects, or addresses off https',
        outcome: 'given up within bounds; codes still log in'
      },
      { id: 'S92', attack: 'A link that logs a browser in over its session, as somebody else', outcome: 'the session stays' },
      {
        id: 'S93',
        attack: 'Somebody whom the provider knows and nobody granted a scope, or with an unverified email address',
        outcome: 'refused with what to ask, and noted in the audit log'
      },
      { id: 'S94', attack: 'A login whose page to return to is elsewhere', outcome: 'refused: only pages of the console' },
      {
        id: 'S95',
        attack: 'The secret of a webhook endpoint that an operator made, looked for in later answers, the audit log and the log',
        outcome: 'in the answer that made it, and nowhere else'
      },
      {
        id: 'S96',
        attack: 'A webhook endpoint of one platform that an operator’s request names under another',
        outcome: '404, and nothing is changed'
      },
      {
        id: 'S97',
        attack: 'A path, a body or an unknown member for the sandbox’s control API, through the API for operators',
        outcome: 'refused: only requests of a closed list are made, from values of our own forms'
      },
      {
        id: 'S98',
        attack: 'An operator who trades for a user with a connection that is not to the sandbox, also one made a moment ago',
        outcome: 'refused: the connections that decide where an order goes are the ones that are checked'
      }
    ]
  }
]

export const ATTACKS: readonly Attack[] = AREAS.flatMap(({ attacks }) => attacks)
