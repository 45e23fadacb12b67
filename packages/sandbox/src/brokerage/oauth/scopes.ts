export const SCOPES = ['read', 'trade'] as const
export type Scope = (typeof SCOPES)[number]
