import type { StreamStatus } from '../../generated/asyncapi.js';
import type { Incoming } from '../connection.js';
import type { Update } from './items.js';
/**
 * Whether it is an update. The service's own document describes the records; what is checked here is what the stream itself depends on.
 * A later version of the service may send other types of updates, which count in `seq` like these.
 */
export declare function isUpdate(message: Incoming): message is Incoming & Update;
export declare function isHealth(message: Incoming): message is Incoming & StreamStatus;
/** @throws Error */
export declare function numberIn({ type, seq }: Incoming): number;
