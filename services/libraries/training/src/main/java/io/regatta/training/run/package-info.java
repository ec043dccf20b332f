/**
 * The run of a program on one rank. It loads and checks the program, and has its replicas' model threads, the common
 * operations of replicas and ranks, the progress on the console, and the metrics at the end. The trainer's verticle and
 * {@code --local} start it.
 */
package io.regatta.training.run;
