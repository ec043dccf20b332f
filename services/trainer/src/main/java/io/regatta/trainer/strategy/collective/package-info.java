/** Collective mode: the trainers reduce their gradients among themselves, without servers. */
package io.regatta.trainer.strategy.collective;
