/**
 * The run of a program on one rank: loading and checking it, its replicas' model threads, the operations that they and
 * the ranks do together, its progress on the console, its metrics at the end. The trainer's verticle and
 * {@code --local} start it.
 */
package io.regatta.trainer.run;
