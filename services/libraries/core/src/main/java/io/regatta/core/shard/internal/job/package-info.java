/**
 * The common state of the parts of one job on one shard: the job's context, its time slices and the callbacks that are
 * owed. All other packages of the shard call it.
 */
package io.regatta.core.shard.internal.job;
