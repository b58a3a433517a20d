"""The statistics of aborts_at_exit.py against published figures."""
import unittest

import aborts_at_exit


class Statistics(unittest.TestCase):
    def test_fisher(self):
        # Fisher's tea tasting: 3 of 4 cups told from 1 of 4.
        self.assertAlmostEqual(aborts_at_exit.fisher(3, 4, 1, 4), 34 / 70)
        self.assertAlmostEqual(aborts_at_exit.fisher(5, 20, 5, 20), 1)
        self.assertAlmostEqual(aborts_at_exit.fisher(0, 3, 3, 3), 0.1)

    def test_difference(self):
        # Newcombe, Statistics in Medicine 17 (1998), method 10: 56 of 70 less 48 of 80.
        low, high = aborts_at_exit.difference(48, 80, 56, 70)
        self.assertAlmostEqual(low, 0.0524, places=4)
        self.assertAlmostEqual(high, 0.3339, places=4)


if __name__ == "__main__":
    unittest.main()
