/** The pair of keys that the portal's test program takes at its broker with keys. */
export const GOOD_KEYS = { key_id: 'PKGOODKEY0001', secret_key: 'canary-good-secret-9f8e7d' } as const
