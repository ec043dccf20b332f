/**
 * The shard's strategy of modes without rounds, where each push is an update of its own. The registry of strategies
 * makes it.
 */
package io.regatta.core.shard.internal.free;
