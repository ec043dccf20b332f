/**
 * What the parts of one job on one shard share: the job's context, its time slices and the callbacks that are owed.
 * All other rooms of the shard call it.
 */
package io.regatta.core.shard.internal.job;
