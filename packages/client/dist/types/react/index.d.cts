import type * as client from './index.js' with { 'resolution-mode': 'import' }
export type * from './index.js' with { 'resolution-mode': 'import' }
export declare const useTrunklineConnect: typeof client.useTrunklineConnect
