/**
 * The trainer as a service, one rank on a cluster: its verticle and main, its seat in the group, its links to the
 * shards.
 */
package io.regatta.trainer;
